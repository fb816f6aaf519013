/* SPDX-License-Identifier: MIT */
/* storm_iconv ROUNDS: opens converters, which the C library loads as plug-ins, converts, and closes them. */
#include "storm.h"

#include <iconv.h>
#include <string.h>

static const char *const sets[] = {"UTF-16LE", "ISO-8859-1", "KOI8-R",      "SHIFT_JIS", "EUC-KR",
                                   "BIG5",     "CP1252",     "ISO-8859-15", "GB18030",   "UTF-7"};

static uint64_t convert(const char *set, char *text)
{
    unsigned char out[64];
    char *from = text, *to = (char *)out;
    size_t left = strlen(text), room = sizeof(out);
    iconv_t converter = iconv_open(set, "UTF-8");
    if (converter == (iconv_t)-1)
        return 1;
    size_t result = iconv(converter, &from, &left, &to, &room);
    uint64_t sum = result + left;
    for (const unsigned char *byte = out; byte < (unsigned char *)to; byte++)
        sum = sum * 31 + *byte;
    iconv_close(converter);
    return sum;
}

static void *work(void *argument)
{
    struct storm *storm = argument;
    for (unsigned long round = 0; round < storm->rounds; round++) {
        char text[32];
        uint64_t random = storm_random(storm);
        snprintf(text, sizeof(text), "text %u", (unsigned)(random % 100000));
        storm->sum =
            storm->sum * 31 + convert(sets[random % (sizeof(sets) / sizeof(sets[0]))], text);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    return storm_run(argc, argv, work);
}
