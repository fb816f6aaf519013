/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/waits/off_waits.h"

#include "record/off_cpu/waits/off_account.h"

/* The clock of the scheduler's account and that of the records differ by less. */
enum { BACKDATED_MIN_NS = 100000 };

static void add_to_look(struct off_waits *waits, struct off_thread *thread)
{
    if (thread->is_to_look || thread->is_left_out || waits->is_quiet)
        return;
    thread->is_to_look = true;
    thread->next_to_look = waits->to_look;
    waits->to_look = thread;
}

/* A tick that hung in the kernel has left threads behind (off_looks_give_up()). */
void off_waits_begin_tick(struct off_waits *waits)
{
    struct off_thread **end = &waits->of_tick;
    while (*end)
        end = &(*end)->next_to_look;
    *end = waits->to_look;
    waits->to_look = NULL;
}

struct off_thread *off_waits_next(struct off_waits *waits)
{
    struct off_thread *thread;
    while ((thread = waits->of_tick)) {
        waits->of_tick = thread->next_to_look;
        thread->is_to_look = false;
        if (!thread->has_ended)
            return thread;
        off_thread_free(thread);
    }
    return NULL;
}

void off_waits_look_again(struct off_waits *waits, struct off_thread *thread)
{
    add_to_look(waits, thread);
}

static void drop_look(struct off_thread *thread)
{
    look_stack_release(thread->look.stack);
    thread->look = (struct wait_look){.stack = NULL};
}

struct look_stack *off_waits_stack(const struct off_thread *thread, uint64_t end_ns)
{
    return thread->look.end_ns <= end_ns ? thread->look.stack : NULL;
}

static void end_runnable(struct off_waits *waits, struct off_thread *thread,
                         const struct run_interval *interval)
{
    if (thread->ready_ns > interval->start_ns)
        wait_samples_put_runnable(&waits->samples, thread, interval->start_ns, interval->end_ns);
    else
        wait_samples_add_runnable(&waits->samples, thread, interval->start_ns, interval->end_ns);
}

static void add_woken(struct off_waits *waits, struct off_thread *thread, int64_t woken_ns)
{
    uint64_t since_ns = thread->run.since_ns;
    thread->woken_ns += woken_ns;
    uint64_t part_ns = off_account_take_preempted(thread);
    if (part_ns)
        wait_samples_add_short_runnable(&waits->samples, thread, since_ns, since_ns + part_ns);
}

void off_waits_take_account(struct off_waits *waits, struct off_thread *thread,
                            const struct run_account *account)
{
    add_woken(waits, thread, off_account_take(thread, account));
    thread->is_active = false;
}

static bool read_account(const struct off_waits *waits, const struct off_thread *thread,
                         struct run_account *account)
{
    return waits->read_account &&
           waits->read_account(thread->process->pid, thread->tid, account) == 0;
}

void off_waits_read_account(struct off_waits *waits, struct off_thread *thread)
{
    struct run_account account;
    if (thread->is_active && read_account(waits, thread, &account))
        add_woken(waits, thread, off_account_take(thread, &account));
    thread->is_active = false;
}

/* Polled threads have no numbers of turns. CPU time of the note is older than the note. */
static bool read_note(const struct off_waits *waits, const struct off_thread *thread,
                      struct run_account *note)
{
    return thread->run.state == RUN_ON && thread->poll.read_ns == 0 &&
           off_notes_read(&waits->notes, thread->tid, note);
}

static bool is_of_this_turn(const struct off_thread *thread, const struct run_account *note)
{
    return thread->excess.has_base && note->turns == cpu_excess_turns(&thread->excess);
}

/* A note after the last wake-up is complete. The kernel's account, if still there, has later turns,
 * which are estimated; an older note lacks wake-ups. */
void off_waits_read_last_account(struct off_waits *waits, struct off_thread *thread)
{
    struct run_account account, note;
    bool has_note = thread->is_active && read_note(waits, thread, &note);
    has_note = has_note && off_account_has_note(thread, &note);
    if (has_note && note.turns >= thread->wake_turn)
        add_woken(waits, thread, off_account_take_note(thread, &note));
    else if (thread->is_active && read_account(waits, thread, &account))
        add_woken(waits, thread, off_account_take_last(thread, &account));
    else if (has_note)
        add_woken(waits, thread, off_account_take_note(thread, &note));
    thread->is_active = false;
}

void off_waits_take_base(struct off_waits *waits, struct off_thread *thread, uint64_t time_ns)
{
    struct run_account note;
    bool has_run = thread->run.state == RUN_ON && !thread->delay.has_base;
    if (has_run && thread->run.since_ns == thread->process->program_ns &&
        read_note(waits, thread, &note) && note.read_ns > thread->run.since_ns &&
        note.read_ns <= time_ns)
        run_delay_take(&thread->delay, note.delay_ns, thread->run.sums_ns[RUN_PREEMPTED]);
}

/* Of a thread that has just got a processor. The note of an ended thread may have later turns than
 * the records. */
static bool find_account(const struct off_waits *waits, const struct off_thread *thread,
                         struct run_account *account)
{
    struct run_account note;
    bool has_note = read_note(waits, thread, &note) && thread->excess.has_base &&
                    note.turns >= cpu_excess_turns(&thread->excess);
    if ((!has_note || !is_of_this_turn(thread, &note)) && read_account(waits, thread, account))
        return true;
    if (has_note)
        *account = note;
    return has_note;
}

/* New runnable time after wake-ups, of this one or later. */
static int64_t take_woken(struct off_waits *waits, struct off_thread *thread,
                          struct run_account *account)
{
    if (!find_account(waits, thread, account))
        return 0;
    int64_t woken_ns = off_account_take(thread, account);
    thread->is_active = false;
    return woken_ns + off_account_take_delay(thread, account);
}

void off_waits_begin(struct off_waits *waits, struct off_thread *thread)
{
    drop_look(thread);
    thread->cut = wait_cut_begin(&waits->samples.ticks, thread->run.since_ns);
    add_to_look(waits, thread);
}

/* New runnable time began before a look that has found the thread asleep: it is sleep. On busy
 * processors, the kernel's account has sleep as runnable time at times (seen on Linux 6.18; cause
 * unknown, docs/design.md). The time of the wake-up is unknown, too. An account with later turns
 * than the records has runnable time after this wait, too. */
static bool is_sleep(const struct off_thread *thread, const struct run_interval *interval,
                     int64_t new_ns, const struct run_account *account)
{
    uint64_t until_ns = interval->end_ns;
    if (thread->delay.turns_ahead && account->read_ns > until_ns)
        until_ns = account->read_ns;
    return off_waits_stack(thread, interval->end_ns) &&
           new_ns > (int64_t)(until_ns - thread->look.begin_ns) + BACKDATED_MIN_NS;
}

/* Where the wait itself ended, and the thread was woken. An earlier read may have found this
 * runnable time, too: more than the short waits can have. What is written already stays a wait; the
 * rest is taken from the next waits. Time of an account with later turns may be given back. */
static uint64_t woken_at_ns(struct off_waits *waits, struct off_thread *thread,
                            const struct run_interval *interval)
{
    struct run_account account = {.read_ns = 0};
    /* a thread that has not run since the last read has no new runnable time */
    int64_t woken_ns = thread->is_active ? take_woken(waits, thread, &account) : 0;
    int64_t new_ns = thread->delay.woken_ns - thread->look.woken_ns;
    if (is_sleep(thread, interval, new_ns, &account)) {
        thread->woken_ns -= new_ns - woken_ns; /* found early */
        woken_ns = 0;
    }
    int64_t early_ns = thread->woken_ns - (int64_t)thread->shorts.sum_ns;
    uint64_t open_ns = interval->end_ns - thread->cut.at_ns;
    uint64_t part_ns = off_account_part(woken_ns + (early_ns > 0 ? early_ns : 0), open_ns);
    thread->woken_ns += woken_ns - (int64_t)part_ns;
    if (thread->delay.turns_ahead)
        wait_samples_add_short_runnable(&waits->samples, thread, interval->end_ns - part_ns,
                                        interval->end_ns);
    else if (part_ns)
        wait_samples_add_runnable(&waits->samples, thread, interval->end_ns - part_ns,
                                  interval->end_ns);
    return interval->end_ns - part_ns;
}

static void end_wait(struct off_waits *waits, struct off_thread *thread,
                     const struct run_interval *interval)
{
    uint64_t end_ns = interval->end_ns;
    struct look_stack *stack = off_waits_stack(thread, end_ns);
    if (wait_is_long(&thread->cut, &waits->samples.ticks, end_ns))
        end_ns = woken_at_ns(waits, thread, interval);
    waits->samples.sums.waiting_ns += end_ns - interval->start_ns;
    if (wait_is_long(&thread->cut, &waits->samples.ticks, end_ns)) {
        wait_samples_cut(&waits->samples, thread, end_ns, true, stack);
    } else {
        short_waits_add(&thread->shorts, interval->start_ns, end_ns);
        if (stack)
            (void)short_waits_meet(&thread->shorts, interval->start_ns, stack);
    }
    drop_look(thread);
    add_to_look(waits, thread); /* its account is due, with the wake-up */
}

/* CPU time of the account that no record has. */
static uint64_t unrecorded_ns(const struct off_thread *thread, const struct run_account *account)
{
    int64_t cpu_ns = (int64_t)account->cpu_ns - (int64_t)thread->run.sums_ns[RUN_ON] -
                     thread->excess.base_ns - thread->excess.taken_ns;
    return cpu_ns > 0 ? (uint64_t)cpu_ns : 0;
}

/* The part of the interval up to this time. */
static uint64_t part_until(const struct run_interval *interval, uint64_t until_ns)
{
    uint64_t end_ns = until_ns < interval->end_ns ? until_ns : interval->end_ns;
    return end_ns > interval->start_ns ? end_ns - interval->start_ns : 0;
}

/* Records are missing: the account has the CPU time and the time without a processor. The rest was
 * spent in waits of unknown length, and belongs to the short ones. Samples of the first part may be
 * written already. */
static void fill_lost(struct off_waits *waits, struct off_thread *thread,
                      const struct run_interval *interval, const struct run_account *account)
{
    uint64_t waited_ns = part_until(interval, thread->cut.at_ns);
    uint64_t ready_ns = part_until(interval, thread->ready_ns);
    uint64_t left_ns = interval->end_ns - interval->start_ns - waited_ns - ready_ns;
    uint64_t cpu_ns = unrecorded_ns(thread, account);
    if (cpu_ns > left_ns)
        cpu_ns = left_ns;
    left_ns -= cpu_ns;
    thread_run_explain(&thread->run, RUN_ON, cpu_ns);
    thread_run_explain(&thread->run, RUN_PREEMPTED, ready_ns);
    thread_run_explain(&thread->run, RUN_BLOCKED, waited_ns + left_ns);
    cpu_excess_set_base(&thread->excess, account->cpu_ns, account->turns,
                        thread->run.sums_ns[RUN_ON]);
    thread->woken_ns +=
        run_delay_take(&thread->delay, account->delay_ns, thread->run.sums_ns[RUN_PREEMPTED]);
    waits->samples.sums.filled_ns += interval->end_ns - interval->start_ns;
    waits->samples.sums.waiting_ns += waited_ns + left_ns;
    short_waits_add(&thread->shorts, interval->end_ns - left_ns, interval->end_ns);
}

/* The thread has not run since the look, except for the record at the end of the interval. */
static bool has_waited(const struct off_thread *thread, const struct run_account *account)
{
    return thread->look.stack && account->turns - thread->look.turns <= 1;
}

static void end_lost(struct off_waits *waits, struct off_thread *thread,
                     const struct run_interval *interval)
{
    struct run_account account;
    bool has_base = thread->excess.has_base && thread->delay.has_base;
    bool is_known = has_base && read_account(waits, thread, &account);
    uint64_t length_ns = interval->end_ns - interval->start_ns;
    if (is_known && has_waited(thread, &account)) {
        thread_run_explain(&thread->run, RUN_BLOCKED, length_ns);
        end_wait(waits, thread, interval);
    } else if (is_known) {
        fill_lost(waits, thread, interval, &account);
    } else {
        waits->samples.sums.lost_ns += length_ns;
        thread->excess.has_base = false; /* CPU time without records */
    }
    drop_look(thread);
}

void off_waits_end(struct off_waits *waits, struct off_thread *thread,
                   const struct run_interval *interval)
{
    if (waits->is_quiet || thread->is_left_out)
        return;
    switch (interval->state) {
    case RUN_BLOCKED:
        end_wait(waits, thread, interval);
        break;
    case RUN_PREEMPTED:
        end_runnable(waits, thread, interval);
        break;
    case RUN_ON:
        waits->samples.sums.on_ns += interval->end_ns - interval->start_ns;
        add_to_look(waits, thread); /* for its account, if it does not wait */
        break;
    case RUN_LOST:
        end_lost(waits, thread, interval);
        break;
    default:
        break;
    }
}

/* A thread that has not run since the look still waits; the others are looked at again. */
void off_waits_resume(struct off_waits *waits, struct off_thread *thread, uint64_t now_ns)
{
    struct run_account account;
    bool is_known = read_account(waits, thread, &account);
    if (is_known && thread->look.stack && account.turns == thread->look.turns) {
        thread->run.state = RUN_BLOCKED;
        return;
    }
    struct run_interval interval = thread_run_resume(&thread->run, now_ns);
    off_waits_end(waits, thread, &interval);
    off_waits_begin(waits, thread);
}

void off_waits_change_ticks(struct off_waits *waits, struct off_thread *thread)
{
    if (thread->cut.start_ns)
        wait_cut_change(&thread->cut, &waits->samples.ticks);
}

void off_waits_restart(struct off_waits *waits, struct off_thread *thread, uint64_t now_ns)
{
    thread_run_restart(&thread->run, now_ns);
    short_waits_clear(&thread->shorts);
    short_waits_clear(&thread->runnable);
    thread->delay = (struct run_delay){.has_base = false};
    thread->excess = (struct cpu_excess){.has_base = false};
    thread->woken_ns = 0;
    if (thread->run.state == RUN_BLOCKED || thread->run.state == RUN_UNSEEN)
        off_waits_begin(waits, thread);
}
