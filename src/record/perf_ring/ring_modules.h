/* SPDX-License-Identifier: MIT */
/* The modules of processes without a sampler: a module cache with private memory for rows. */
#pragma once

#include "record/tables/modules/module_cache.h"
#include "record/tables/maps/process_map.h"

struct ring_modules {
    struct module_cache *cache;
    struct tables *tables; /* private memory; only touched pages exist */
};

/* Mapped files are added to open_files. 0 or a negative errno. */
int ring_modules_open(struct ring_modules *modules, struct open_file_cache *open_files);
void ring_modules_close(struct ring_modules *modules);
