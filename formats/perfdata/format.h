/* SPDX-License-Identifier: MIT */
/*
 * Constants of perf.data, shared by reader and writer.
 *
 *     0    "PERFILE2", size of this header, size of an attr entry
 *     24   sections {offset, size}: attrs, data, event types (unused)
 *     72   256 feature bits
 *     104  ── anywhere from here ──
 *     attr entry   perf_event_attr, then the section of this event's ids
 *     data         records: {u32 type, u16 misc, u16 size} and a body
 *     data's end   a section per set feature bit, ascending; the payloads lie anywhere
 *
 * A SAMPLE holds the fields in its event's sample_type, in a fixed order. All other kernel records
 * end with a trailer: the task, time and id fields of sample_type (with sample_id_all).
 */
#pragma once

enum { /* places in the file header */
       HEADER_BYTES = 104,
       HEADER_AT_DATA_SIZE = 48,
       HEADER_AT_FEATURES = 72,
       HEADER_FEATURE_BITS = 256,
       PIPE_HEADER_BYTES = 16,
       SECTION_BYTES = 16,
       RECORD_HEADER_BYTES = 8,
       RECORD_BYTES_MAX = 65528, /* size is a u16, and a multiple of 8 */
};

enum record_type {
    RECORD_MMAP = 1,
    RECORD_LOST = 2,
    RECORD_COMM = 3,
    RECORD_EXIT = 4,
    RECORD_FORK = 7,
    RECORD_READ = 8,
    RECORD_SAMPLE = 9,
    RECORD_MMAP2 = 10,
    RECORD_LOST_SAMPLES = 13,
    RECORD_SWITCH = 14,
    RECORD_SWITCH_CPU_WIDE = 15,
    RECORD_NAMESPACES = 16,
    RECORD_KSYMBOL = 17,
    RECORD_BPF_EVENT = 18,
    RECORD_CGROUP = 19,
    RECORD_TEXT_POKE = 20,
    RECORD_CALLCHAIN_DEFERRED = 22,
    RECORD_KERNEL_LAST = RECORD_CALLCHAIN_DEFERRED, /* newer types are not supported */
    RECORD_USER_TYPES = 64, /* from here on written by perf itself: no trailer */
    RECORD_HEADER_ATTR = RECORD_USER_TYPES,
    RECORD_TRACING_DATA = 66, /* followed by the payload */
    RECORD_HEADER_BUILD_ID = 67,
    RECORD_FINISHED_ROUND = 68,
    RECORD_AUXTRACE = 71, /* followed by the payload */
    RECORD_EVENT_UPDATE = 78,
    RECORD_TIME_CONV = 79,
    RECORD_HEADER_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
    RECORD_USER_LAST = 86,         /* newer types are not supported */
    RECORD_SIMPLEPERF_MIN = 32768, /* Android's: misc holds the upper half of their size */
};

enum { /* misc of a record */
       MISC_CPUMODE_MASK = 7,
       MISC_KERNEL = 1,
       MISC_USER = 2,
       MISC_GUEST_KERNEL = 4,
       MISC_GUEST_USER = 5,
       MISC_COMM_EXEC = 1 << 13,
       MISC_FORK_EXEC = 1 << 13, /* perf's own: the task was there before the recording */
       MISC_MMAP_DATA = 1 << 13, /* MMAP: not executable */
       MISC_SWITCH_OUT = 1 << 13,
       MISC_SWITCH_OUT_PREEMPTED = 1 << 14,
       MISC_MMAP_BUILD_ID = 1 << 14,
       MISC_BUILD_ID_SIZE = 1 << 15, /* BUILD_ID feature: the size byte holds */
};

enum {
    KSYMBOL_UNREGISTERED = 1 << 0,
    BPF_EVENT_UNLOADED = 2,
};

enum { /* sample_type */
       SAMPLE_IP = 1 << 0,
       SAMPLE_TID = 1 << 1,
       SAMPLE_TIME = 1 << 2,
       SAMPLE_ADDR = 1 << 3,
       SAMPLE_READ = 1 << 4,
       SAMPLE_CALLCHAIN = 1 << 5,
       SAMPLE_ID = 1 << 6,
       SAMPLE_CPU = 1 << 7,
       SAMPLE_PERIOD = 1 << 8,
       SAMPLE_STREAM_ID = 1 << 9,
       SAMPLE_RAW = 1 << 10,
       SAMPLE_BRANCH_STACK = 1 << 11,
       SAMPLE_REGS_USER = 1 << 12,
       SAMPLE_STACK_USER = 1 << 13,
       SAMPLE_WEIGHT = 1 << 14,
       SAMPLE_DATA_SRC = 1 << 15,
       SAMPLE_IDENTIFIER = 1 << 16,
       SAMPLE_TRANSACTION = 1 << 17,
       SAMPLE_REGS_INTR = 1 << 18,
       SAMPLE_PHYS_ADDR = 1 << 19,
       SAMPLE_CGROUP = 1 << 21,
       SAMPLE_WEIGHT_STRUCT = 1 << 24,
       /* Fields of 8 bytes each, in front of all others. */
       SAMPLE_HEAD = SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR |
                     SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_PERIOD,
};

enum { /* read_format */
       READ_TIME_ENABLED = 1 << 0,
       READ_TIME_RUNNING = 1 << 1,
       READ_ID = 1 << 2,
       READ_GROUP = 1 << 3,
       READ_LOST = 1 << 4,
};

enum { /* branch_sample_type: additions to BRANCH_STACK */
       BRANCH_HW_INDEX = 1 << 17,
       BRANCH_COUNTERS = 1 << 19,
       BRANCH_ENTRY_BYTES = 24,
};

enum { /* perf_event_attr: sizes, and numbers of flag bits */
       ATTR_BYTES_MIN = 64,
       ATTR_BYTES_WRITTEN = 112, /* perf 6.1 refuses more than 128 */
       ATTR_FLAG_INHERIT = 1,
       ATTR_FLAG_EXCLUDE_KERNEL = 5,
       ATTR_FLAG_EXCLUDE_HV = 6,
       ATTR_FLAG_MMAP = 8,
       ATTR_FLAG_COMM = 9,
       ATTR_FLAG_FREQUENCY = 10,
       ATTR_FLAG_TASK = 13,
       ATTR_FLAG_SAMPLE_ID_ALL = 18,
       ATTR_FLAG_EXCLUDE_GUEST = 20,
       ATTR_FLAG_EXCLUDE_CALLCHAIN_USER = 22,
       ATTR_FLAG_MMAP2 = 23,
       ATTR_FLAG_COMM_EXEC = 24,
       ATTR_FLAG_USE_CLOCKID = 25,
       ATTR_FLAG_CONTEXT_SWITCH = 26,
       ATTR_FLAG_BUILD_ID = 34,
       ATTR_TYPE_HARDWARE = 0,
       ATTR_TYPE_SOFTWARE = 1,
       ATTR_TYPE_TRACEPOINT = 2,
};

enum { /* feature bits */
       FEATURE_TRACING_DATA = 1,
       FEATURE_BUILD_ID = 2,
       FEATURE_HOSTNAME = 3,
       FEATURE_OSRELEASE = 4,
       FEATURE_VERSION = 5,
       FEATURE_ARCH = 6,
       FEATURE_NRCPUS = 7,
       FEATURE_CPUDESC = 8,
       FEATURE_CPUID = 9,
       FEATURE_TOTAL_MEM = 10,
       FEATURE_CMDLINE = 11,
       FEATURE_EVENT_DESC = 12,
       FEATURE_SAMPLE_TIME = 21,
       FEATURE_CLOCKID = 23,
       FEATURE_DIR_FORMAT = 24,
       FEATURE_COMPRESSED = 27,
       FEATURE_CLOCK_DATA = 29,
       FEATURE_PRIVATE_MIN = 64,           /* perf's own stay below */
       FEATURE_SIMPLEPERF_META_INFO = 129, /* terminated strings: key, value, key, value, … */
};

enum { /* EVENT_UPDATE: u64 kind, u64 event id, then a string */
       EVENT_UPDATE_UNIT = 0,
       EVENT_UPDATE_NAME = 2,
};

enum { BUILD_ID_BYTES = 20 };
