/* SPDX-License-Identifier: MIT */
/* Perf maps, jitdumps and kallsyms out of arbitrary bytes: the first byte says which. */
#include "convert/jit/jit_code.h"
#include "convert/symbolize/kallsyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void look_up(struct jit_codes *codes)
{
    if (jit_codes_sort(codes) != 0)
        return;
    for (size_t i = 0; i < codes->count; i++) {
        const struct jit_code *code =
            jit_codes_find(codes, codes->codes[i].avma, codes->codes[i].since_ns);
        if (code)
            (void)jit_codes_line(codes, code, code->avma + 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct jit_codes codes = {.room = SIZE_MAX};
    struct symbol_result result;
    if (size == 0)
        return 0;
    if (bytes[0] % 3 == 0) {
        (void)perf_map_parse(&codes, bytes + 1, size - 1);
    } else if (bytes[0] % 3 == 1) {
        (void)jit_dump_parse(&codes, &(struct jit_counter){.multiplier = 1}, bytes + 1, size - 1);
    } else {
        const uint64_t avmas[] = {0x1000, UINT64_MAX};
        FILE *file = fmemopen((void *)(bytes + 1), size - 1, "r");
        struct kallsyms *kallsyms = file ? kallsyms_read(file, avmas, 2) : NULL;
        for (size_t i = 0; kallsyms && i < 2; i++)
            (void)kallsyms_find(kallsyms, avmas[i], &result);
        kallsyms_close(kallsyms);
        if (file)
            fclose(file);
    }
    look_up(&codes);
    jit_codes_free(&codes);
    return 0;
}
