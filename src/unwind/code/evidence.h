/* SPDX-License-Identifier: MIT */
/* How far a caller found by its call instruction can be trusted. */
#pragma once

enum caller_evidence {
    CALLER_NONE,
    CALLER_BEYOND,     /* none; the place given by the prologue is behind the bytes of the stack */
    CALLER_UNREADABLE, /* an address of code that cannot be read: no caller yet */
    CALLER_GUESSED,    /* behind a call of unknown target, or to another function */
    CALLER_PLAUSIBLE,  /* at the place given by the prologue, behind a call of unknown target */
    CALLER_VERIFIED,   /* behind a call to this function, or interrupted by a signal */
    CALLER_IS_ROOT,    /* no caller: the entry function, or code that ends the thread */
};
