/* SPDX-License-Identifier: MIT */
/* A process goes on after the end of its main thread (pthread_exit(3) in main()): a zombie. The
 * entries of a zombie in /proc have neither memory nor files. */
#pragma once

#include <sys/types.h>

/* The thread for reads of the memory and the files of the process, by id and in /proc: the main
 * thread while it lives. */
pid_t living_task_find(pid_t pid);
