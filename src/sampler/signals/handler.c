/* SPDX-License-Identifier: MIT */
#include "sampler/signals/handler.h"

#include "sampler/sample/own_signal.h"
#include "sampler/sample/sample.h"
#include "sampler/signals/deliver.h"

void handler(int signal, siginfo_t *info, void *context)
{
    if (own_signal_is_ours(info))
        sample_take(info, context);
    else
        deliver_foreign(signal, info, context);
}
