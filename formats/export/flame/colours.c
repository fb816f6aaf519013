/* SPDX-License-Identifier: MIT */
#include "export/flame/colours.h"

enum { SHADES = 4, STRENGTHS = 3 };

static const char *const kinds[CALL_KINDS][2 * SHADES] = {
    [PROFILE_USER] = {"#f9bd78", "#f7c584", "#f5cd8a", "#f8c07f", "#fbe3c0", "#fce7c9", "#fae0bd",
                      "#fbe6cc"},
    [PROFILE_KERNEL] = {"#ee9aa5", "#f0a5ae", "#eb929d", "#f2aeb6", "#f6cdd2", "#f7d3d8", "#f5c8ce",
                        "#f8d9dd"},
    [PROFILE_LIBRARY] = {"#97b3e6", "#9dc0e4", "#a6b4ea", "#8fbbe0", "#cddbf4", "#cfe1f3",
                         "#d5dbf6", "#c8dff0"},
    [PROFILE_JIT] = {"#95d4a0", "#a0d9aa", "#8bcf98", "#aaddb3", "#cdebd3", "#d3eed8", "#c8e8ce",
                     "#d9f0dd"},
    [PROFILE_SYNTHETIC] = {"#c5cad1", "#c9ced5", "#bfc5cd", "#cdd2d8", "#c5cad1", "#c9ced5",
                           "#bfc5cd", "#cdd2d8"},
    [CALL_OFF_CPU] = {"#cbb3e3", "#d0bae6", "#c5abdf", "#d5c1e9", "#cbb3e3", "#d0bae6", "#c5abdf",
                      "#d5c1e9"},
};

static const char *const shifts[FLAME_SHIFTS][STRENGTHS] = {
    [FLAME_SAME] = {"#dfe3e8", "#dfe3e8", "#dfe3e8"},
    [FLAME_GROWN] = {"#f6b3ab", "#ef8378", "#e05243"},
    [FLAME_SHRUNK] = {"#b4cdf2", "#86ade8", "#5a8bdb"},
    [FLAME_NEW] = {"#f6d743", "#f6d743", "#f6d743"},
};

const char *const colour_kind_names[CALL_KINDS] = {
    [PROFILE_USER] = "program", [PROFILE_KERNEL] = "kernel",     [PROFILE_LIBRARY] = "library",
    [PROFILE_JIT] = "JIT code", [PROFILE_SYNTHETIC] = "no code", [CALL_OFF_CPU] = "off CPU",
};

const char *colour_of_frame(const struct call_frame *frame)
{
    unsigned shade = frame->func * 2654435761u >> 30;
    return kinds[frame->kind][shade + (frame->is_inlined ? SHADES : 0)];
}

const char *colour_of_kind(int category)
{
    return kinds[category][0];
}

const char *colour_of_shift(enum flame_shift shift, double strength)
{
    return shifts[shift][strength < 0.15 ? 0 : strength < 0.4 ? 1 : 2];
}
