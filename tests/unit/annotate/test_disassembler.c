/* SPDX-License-Identifier: MIT */
#include "annotate/arch/libraries.h"
#include "annotate/disassembler.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct listing {
    char text[1024];
    uint64_t target_svma; /* of the last instruction with a target */
};

static bool take(void *context, const struct instruction *instruction)
{
    struct listing *listing = context;
    size_t used = strlen(listing->text);
    snprintf(listing->text + used, sizeof(listing->text) - used, "%llx+%u %s\n",
             (unsigned long long)instruction->svma, instruction->bytes, instruction->text);
    if (instruction->has_target)
        listing->target_svma = instruction->target_svma;
    return true;
}

static struct listing list(uint16_t machine, bool is_att, const void *bytes, size_t size)
{
    struct listing listing = {{0}, 0};
    const struct disassembly disassembly = {.machine = machine,
                                            .is_att = is_att,
                                            .svma = 0x1000,
                                            .bytes = bytes,
                                            .size = size,
                                            .take = take,
                                            .context = &listing};
    assert_true(disassemble(&disassembly));
    return listing;
}

static int load_libraries(void **state)
{
    (void)state;
    disassembler_prepare();
    return 0;
}

/* Encodings by hand, from the Intel SDM, volume 2. */
static const uint8_t x86_code[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0xf7,
                                   0x0f, 0x00, 0x00, 0x06, 0xc3};

static void x86_has_both_syntaxes_and_targets(void **state)
{
    (void)state;
    if (!zydis_is_built_in())
        skip();
    struct listing intel = list(EM_X86_64, false, x86_code, sizeof(x86_code));
    assert_string_equal(intel.text, "1000+1 push rbp\n1001+3 mov rbp, rsp\n1004+5 call 0x2000\n"
                                    "1009+1 .byte 0x06\n100a+1 ret\n");
    assert_int_equal(intel.target_svma, 0x2000);
    struct listing att = list(EM_X86_64, true, x86_code, sizeof(x86_code));
    assert_non_null(strstr(att.text, "mov %rsp, %rbp"));
}

static void an_instruction_cut_by_the_end_is_bytes(void **state)
{
    (void)state;
    if (!zydis_is_built_in())
        skip();
    assert_string_equal(list(EM_X86_64, false, x86_code, 3).text,
                        "1000+1 push rbp\n1001+1 .byte 0x48\n1002+1 .byte 0x89\n");
}

/* Arm Architecture Reference Manual: bl has the opcode 100101 and a distance in words. */
static void other_machines_are_read_by_capstone(void **state)
{
    (void)state;
    static const uint32_t code[] = {0x94000400, 0x00000000, 0xd65f03c0};
    if (!capstone_is_there())
        skip();
    struct listing listing = list(EM_AARCH64, false, code, sizeof(code));
    assert_string_equal(listing.text, "1000+4 bl #0x2000\n1004+4 .byte 0x00 …\n1008+4 ret\n");
    assert_int_equal(listing.target_svma, 0x2000);
}

static void an_unknown_machine_is_refused(void **state)
{
    (void)state;
    const struct disassembly disassembly = {.machine = EM_S390, .take = take};
    assert_false(disassemble(&disassembly));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x86_has_both_syntaxes_and_targets),
        cmocka_unit_test(an_instruction_cut_by_the_end_is_bytes),
        cmocka_unit_test(other_machines_are_read_by_capstone),
        cmocka_unit_test(an_unknown_machine_is_refused),
    };
    return cmocka_run_group_tests(tests, load_libraries, NULL);
}
