/* SPDX-License-Identifier: MIT */
#include "annotate/arch/libraries.h"

#include "annotate/disassembler.h"
#include "base/loaded_library.h"

#include <Zydis/Zydis.h>
#include <elf.h>
#include <stdio.h>

static struct {
    __typeof__(ZydisFormatterInit) *init_formatter;
    __typeof__(ZydisFormatterSetProperty) *set_property;
    __typeof__(ZydisFormatterFormatInstruction) *format;
    __typeof__(ZydisDecoderInit) *init_decoder;
    __typeof__(ZydisDecoderDecodeFull) *decode;
    __typeof__(ZydisCalcAbsoluteAddress) *find_address;
} library;

static struct library_at_need libzydis = LIBRARY_AT_NEED(
    "", {"ZydisFormatterInit", &library.init_formatter},
    {"ZydisFormatterSetProperty", &library.set_property},
    {"ZydisFormatterFormatInstruction", &library.format},
    {"ZydisDecoderInit", &library.init_decoder}, {"ZydisDecoderDecodeFull", &library.decode},
    {"ZydisCalcAbsoluteAddress", &library.find_address});

/* The soname has the version of the headers. */
void zydis_prepare(void)
{
    snprintf(libzydis.file, sizeof(libzydis.file), "libZydis.so.%u.%u",
             ZYDIS_VERSION_MAJOR(ZYDIS_VERSION), ZYDIS_VERSION_MINOR(ZYDIS_VERSION));
    (void)library_need(&libzydis);
}

bool zydis_is_there(void)
{
    return libzydis.is_there;
}

bool zydis_is_built_in(void)
{
    return true;
}

static void set_format(ZydisFormatter *formatter, bool is_att)
{
    library.init_formatter(formatter,
                           is_att ? ZYDIS_FORMATTER_STYLE_ATT : ZYDIS_FORMATTER_STYLE_INTEL);
    library.set_property(formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    library.set_property(formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                         ZYDIS_PADDING_DISABLED);
    library.set_property(formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
    library.set_property(formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
}

/* The target of a direct call or jump: the first operand, relative to the next instruction. */
static void find_target(struct instruction *instruction, const ZydisDecodedInstruction *decoded,
                        const ZydisDecodedOperand *operands)
{
    instruction->has_target =
        decoded->operand_count_visible > 0 && operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        operands[0].imm.is_relative &&
        ZYAN_SUCCESS(library.find_address(decoded, &operands[0], instruction->svma,
                                          &instruction->target_svma));
}

bool zydis_disassemble(const struct disassembly *disassembly)
{
    bool is_64_bit = disassembly->machine == EM_X86_64;
    if (!libzydis.is_there)
        return false;
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    library.init_decoder(&decoder,
                         is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
                         is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    set_format(&formatter, disassembly->is_att);
    for (size_t at = 0; at < disassembly->size;) {
        struct instruction instruction = {.svma = disassembly->svma + at, .bytes = 1};
        ZydisDecodedInstruction decoded;
        ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
        if (ZYAN_SUCCESS(library.decode(&decoder, disassembly->bytes + at, disassembly->size - at,
                                        &decoded, operands)) &&
            ZYAN_SUCCESS(library.format(&formatter, &decoded, operands, decoded.operand_count,
                                        instruction.text, sizeof(instruction.text),
                                        instruction.svma, NULL))) {
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
