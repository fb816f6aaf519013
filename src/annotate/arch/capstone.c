/* SPDX-License-Identifier: MIT */
#include "annotate/arch/libraries.h"

#include "annotate/disassembler.h"
#include "base/loaded_library.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 4 }; /* of every instruction of these machines */

static struct {
    __typeof__(cs_open) *open;
    __typeof__(cs_close) *close;
    __typeof__(cs_option) *option;
    __typeof__(cs_malloc) *allocate;
    __typeof__(cs_free) *release;
    __typeof__(cs_disasm_iter) *next;
    __typeof__(cs_insn_group) *is_in_group;
} library;

static struct library_at_need libcapstone = LIBRARY_AT_NEED(
    "libcapstone.so.4", {"cs_open", &library.open}, {"cs_close", &library.close},
    {"cs_option", &library.option}, {"cs_malloc", &library.allocate}, {"cs_free", &library.release},
    {"cs_disasm_iter", &library.next}, {"cs_insn_group", &library.is_in_group});

void capstone_prepare(void)
{
    (void)library_need(&libcapstone);
}

bool capstone_is_there(void)
{
    return libcapstone.is_there;
}

bool capstone_is_built_in(void)
{
    return true;
}

static bool open_machine(uint16_t machine, csh *handle)
{
    static const struct {
        uint16_t machine;
        cs_arch arch;
        cs_mode mode;
    } machines[] = {{EM_AARCH64, CS_ARCH_ARM64, CS_MODE_ARM},
                    {EM_ARM, CS_ARCH_ARM, CS_MODE_ARM},
                    {EM_PPC64, CS_ARCH_PPC, CS_MODE_64}};
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
        if (machines[i].machine == machine)
            return library.open(machines[i].arch, machines[i].mode, handle) == CS_ERR_OK;
    return false;
}

/* The last number of the operands of a call or jump, as in "w0, #0x4, #0x1234". */
static void find_target(csh handle, const cs_insn *decoded, struct instruction *instruction)
{
    const char *number = NULL;
    if (!library.is_in_group(handle, decoded, CS_GRP_JUMP) &&
        !library.is_in_group(handle, decoded, CS_GRP_CALL))
        return;
    for (const char *at = decoded->op_str; (at = strstr(at, "0x")); at += 2)
        number = at;
    instruction->has_target = number != NULL;
    instruction->target_svma = number ? strtoull(number, NULL, 16) : 0;
}

bool capstone_disassemble(const struct disassembly *disassembly)
{
    csh handle;
    if (!libcapstone.is_there || !open_machine(disassembly->machine, &handle))
        return false;
    library.option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    cs_insn *decoded = library.allocate(handle);
    const uint8_t *code = disassembly->bytes;
    size_t left = disassembly->size;
    uint64_t svma = disassembly->svma;
    while (decoded && left > 0) {
        struct instruction instruction = {.svma = svma};
        if (library.next(handle, &code, &left, &svma, decoded)) {
            instruction.bytes = decoded->size;
            snprintf(instruction.text, sizeof(instruction.text), "%s%s%s", decoded->mnemonic,
                     decoded->op_str[0] ? " " : "", decoded->op_str);
            find_target(handle, decoded, &instruction);
        } else {
            instruction.bytes = left < WORD_BYTES ? (uint32_t)left : WORD_BYTES;
            snprintf(instruction.text, sizeof(instruction.text), ".byte 0x%02x …", *code);
            code += instruction.bytes, left -= instruction.bytes, svma += instruction.bytes;
        }
        if (!disassembly->take(disassembly->context, &instruction))
            break;
    }
    if (decoded)
        library.release(decoded, 1);
    library.close(&handle);
    return true;
}
