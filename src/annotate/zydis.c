/* SPDX-License-Identifier: MIT */
#include "annotate/disassembler_parts.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdio.h>

bool zydis_is_there(void)
{
    return true;
}

static void set_format(ZydisFormatter *formatter, bool is_att)
{
    ZydisFormatterInit(formatter, is_att ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
    ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    ZydisFormatterSetProperty(formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
}

/* The target of a direct call or jump: the first operand, relative to the next instruction. */
static void find_target(struct instruction *instruction, const ZydisDecodedInstruction *decoded,
                        const ZydisDecodedOperand *operands)
{
    instruction->has_target =
        decoded->operand_count_visible > 0 && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        operands[0].imm.is_relative &&
        ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(decoded, &operands[0], instruction->svma,
                                              &instruction->target_svma));
}

bool zydis_disassemble(const struct disassembly *disassembly)
{
    bool is_64_bit = disassembly->machine == EM_X86_64;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    ZydisDecoderInit(&decoder,
                     is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                     is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    set_format(&formatter, disassembly->is_att);
    for (size_t at = 0; at < disassembly->size;) {
        struct instruction instruction = {.svma = disassembly->svma + at, .bytes = 1};
        ZydisDecodedInstruction decoded;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, disassembly->bytes + at,
                                                disassembly->size - at, &decoded, operands)) &&
            ZYAN_SUCCESS(ZydisFormatterFormatInstruction(
                &formatter, &decoded, operands, decoded.operand_count, instruction.text,
                sizeof(instruction.text), instruction.svma, NULL))) {
            instruction.bytes = decoded.length;
            find_target(&instruction, &decoded, operands);
        } else {
            snprintf(instruction.text, sizeof(instruction.text), ".byte 0x%02x",
                     disassembly->bytes[at]);
        }
        if (!disassembly->take(disassembly->context, &instruction))
            break;
        at += instruction.bytes;
    }
    return true;
}
