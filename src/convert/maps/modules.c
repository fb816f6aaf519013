/* SPDX-License-Identifier: MIT */
#include "convert/maps/modules.h"

#include "base/containers/array.h"
#include "convert/files/link_name.h"
#include "convert/files/symfs.h"
#include "convert/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int modules_init(struct modules *modules, struct profile *profile, const struct symbol_store *store,
                 const struct convert_options *options)
{
    *modules = (struct modules){
        .profile = profile, .store = store, .options = options, .keys = intern_new()};
    return modules->keys ? 0 : -ENOMEM;
}

void modules_free(struct modules *modules)
{
    for (size_t i = 0; i < modules->count; i++) {
        module_segments_free(&modules->modules[i].segments);
        unwind_module_close(modules->modules[i].unwind);
        code_image_close(modules->modules[i].code);
    }
    free(modules->modules);
    if (modules->keys)
        intern_free(modules->keys);
    *modules = (struct modules){0};
}

/* All images of the kernel itself, and the names that perf has for it, are one. */
static const char *path_of(const struct perfdata_event *event)
{
    static const char kernel[] = "[kernel.kallsyms]";
    if (event->path[0] == '\0')
        return "//anon";
    return strncmp(event->path, kernel, strlen(kernel)) == 0 ? kernel : event->path;
}

/* A key is the path, its terminator, and the build-id. */
static const char *module_path(const struct modules *modules, uint32_t module,
                               const uint8_t **build_id, size_t *build_id_bytes)
{
    size_t size;
    const char *path = intern_bytes(modules->keys, module, &size);
    size_t length = strlen(path) + 1;
    *build_id = (const uint8_t *)path + length;
    *build_id_bytes = size - length;
    return path;
}

static bool is_bracketed(const char *path)
{
    size_t length = strlen(path);
    return length >= 2 && path[0] == '[' && path[length - 1] == ']';
}

/* Memory that is no file: code that the program made itself. */
static bool is_anonymous(const char *path)
{
    static const char *const starts[] = {"//anon", "/memfd:", "/dev/zero", "/SYSV",
                                         "[heap]", "[stack",  "[anon",     "anon_inode:"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
        if (strncmp(path, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

static enum profile_category category_of(const struct module *module, const char *path)
{
    if (module->is_kernel || strcmp(path, "[kernel]") == 0 || strcmp(path, "[vsyscall]") == 0 ||
        strcmp(path, "[kernel.kallsyms]") == 0)
        return PROFILE_KERNEL;
    if (strcmp(path, "[vdso]") == 0)
        return PROFILE_LIBRARY;
    if (is_anonymous(path))
        return PROFILE_JIT;
    if (is_bracketed(path))
        return PROFILE_SYNTHETIC;
    return module->is_program ? PROFILE_USER : PROFILE_LIBRARY;
}

uint32_t modules_id(struct modules *modules, const struct perfdata_event *event)
{
    const char *path = path_of(event);
    struct buffer key = {0};
    buffer_append(&key, path, strlen(path) + 1);
    buffer_append(&key, event->build_id, event->build_id_bytes);
    uint32_t id = key.failed ? INTERN_NONE : intern_add(modules->keys, key.bytes, key.size);
    buffer_free(&key);
    if (id != INTERN_NONE && id < modules->count)
        return id;
    struct module *module = id == modules->count
                                ? ARRAY_PUSH(modules->modules, modules->count, modules->capacity)
                                : NULL;
    if (!module) {
        modules->profile->failed = true;
        return PROFILE_NONE;
    }
    module->lib = module->name = PROFILE_NONE;
    module->is_kernel = event->is_kernel;
    module->is_jit = category_of(module, path) == PROFILE_JIT;
    return id;
}

uint32_t modules_function_id(struct modules *modules, const struct perfdata_event *event)
{
    const struct perfdata_event record = {.path = event->name, .is_kernel = true};
    uint32_t id = modules_id(modules, &record);
    if (id != PROFILE_NONE)
        modules->modules[id].is_function = true;
    return id;
}

/* "[kernel]" is the sampler's mark for kernel time; "[kernel.kallsyms]" and modules are real code.
 */
static bool is_synthetic(enum profile_category category, const char *path)
{
    return category == PROFILE_SYNTHETIC || strcmp(path, "[kernel]") == 0;
}

bool modules_is_file(const struct modules *modules, uint32_t module)
{
    const uint8_t *build_id;
    size_t build_id_bytes;
    const char *path = module_path(modules, module, &build_id, &build_id_bytes);
    return path[0] == '/' && !is_anonymous(path) && !modules->modules[module].is_kernel;
}

const char *modules_path(const struct modules *modules, uint32_t module)
{
    size_t size;
    return intern_bytes(modules->keys, module, &size);
}

bool modules_is_jit(const struct modules *modules, uint32_t module)
{
    return modules->modules[module].is_jit;
}

/* The link's name; PROFILE_NONE: the file was executed by its own. */
static uint32_t link_name(const struct modules *modules, uint32_t index, uint32_t name)
{
    const uint8_t *build_id;
    size_t build_id_bytes;
    const char *path = module_path(modules, index, &build_id, &build_id_bytes);
    struct symfs_path here = symfs_path_of(modules->options, path, build_id, build_id_bytes);
    bool is_link = link_name_leads_to(profile_text(modules->profile, name), here.text);
    return is_link ? name : PROFILE_NONE;
}

static void set_lib_name(struct modules *modules, const struct module *module)
{
    struct profile_lib *lib = &modules->profile->libs[module->lib];
    const char *path = profile_text(modules->profile, lib->path);
    const char *slash = strrchr(path, '/');
    lib->name = module->name == PROFILE_NONE
                    ? profile_string(modules->profile, slash ? slash + 1 : path)
                    : module->name;
}

void modules_set_program(struct modules *modules, uint32_t index, uint32_t name)
{
    struct module *module = &modules->modules[index];
    bool is_first = !module->is_program;
    module->is_program = true;
    if (is_first)
        module->name = link_name(modules, index, name);
    else if (module->name != name)
        module->name = PROFILE_NONE;
    if (module->lib == PROFILE_NONE)
        return;
    modules->profile->libs[module->lib].category = PROFILE_USER;
    set_lib_name(modules, module);
}

/* Once for each module that has an image. 0 or -ENOMEM. */
static int need_segments(struct modules *modules, uint32_t index)
{
    struct module *module = &modules->modules[index];
    if (module->has_segments)
        return 0;
    const uint8_t *build_id;
    size_t build_id_bytes;
    const char *path = module_path(modules, index, &build_id, &build_id_bytes);
    if (!modules_is_file(modules, index) && strcmp(path, "[vdso]") != 0)
        return 0;
    module->has_segments = true;
    const struct stored_lib *stored =
        modules->store ? symbol_store_find_lib(modules->store, path, build_id, build_id_bytes)
                       : NULL;
    int err = stored && stored->segments.is_known
                  ? module_segments_copy(&module->segments, &stored->segments)
                  : module_segments_read(
                        &module->segments,
                        symfs_path_of(modules->options, path, build_id, build_id_bytes).text,
                        build_id, build_id_bytes);
    modules->profile->failed |= err != 0;
    return err;
}

/* NULL: the file is not there, or another one. */
static struct elf_file *open_elf(struct modules *modules, uint32_t index)
{
    const uint8_t *build_id;
    size_t build_id_bytes;
    struct elf_file *elf = NULL;
    const char *path = module_path(modules, index, &build_id, &build_id_bytes);
    struct symfs_path here = symfs_path_of(modules->options, path, build_id, build_id_bytes);
    (void)module_file_open(&elf, here.text, build_id, build_id_bytes);
    return elf;
}

static void open_unwind(struct modules *modules, uint32_t index)
{
    struct elf_file *elf = open_elf(modules, index), *debug = NULL;
    if (elf) {
        debug = module_file_open_debug(elf, modules->options->debug_directory);
        (void)unwind_module_open_sparse(&modules->modules[index].unwind, elf, debug, NULL);
    }
    elf_close(debug);
    elf_close(elf);
}

static void open_code(struct modules *modules, uint32_t index)
{
    struct elf_file *elf = open_elf(modules, index);
    if (elf)
        (void)code_image_open(&modules->modules[index].code, elf);
    elf_close(elf);
}

/* False: nothing is known of the file. */
static bool find_bias(struct modules *modules, const struct mapping *mapping, uint64_t *bias)
{
    struct module *module = &modules->modules[mapping->module];
    *bias = 0;
    if (need_segments(modules, mapping->module) != 0 || !module->segments.is_known)
        return false;
    *bias = module_segments_bias(&module->segments, mapping->start_avma, mapping->file_offset);
    return true;
}

const struct unwind_module *modules_unwind(struct modules *modules, const struct mapping *mapping,
                                           uint64_t *bias)
{
    struct module *module = &modules->modules[mapping->module];
    if (!find_bias(modules, mapping, bias))
        return NULL;
    if (!module->has_unwind)
        open_unwind(modules, mapping->module);
    module->has_unwind = true;
    return module->unwind;
}

const struct code_image *modules_code(struct modules *modules, const struct mapping *mapping,
                                      uint64_t *bias)
{
    struct module *module = &modules->modules[mapping->module];
    if (!find_bias(modules, mapping, bias))
        return NULL;
    if (!module->has_code)
        open_code(modules, mapping->module);
    module->has_code = true;
    return module->code;
}

uint32_t modules_lib(struct modules *modules, uint32_t index)
{
    struct module *module = &modules->modules[index];
    struct profile *profile = modules->profile;
    if (module->lib != PROFILE_NONE)
        return module->lib;
    const uint8_t *build_id;
    size_t build_id_bytes;
    const char *path = module_path(modules, index, &build_id, &build_id_bytes);
    uint32_t id = profile_lib_id(profile, path, build_id, build_id_bytes);
    if (id == PROFILE_NONE)
        return PROFILE_NONE;
    struct profile_lib *lib = &profile->libs[id];
    lib->category = category_of(module, path);
    lib->is_synthetic = is_synthetic(lib->category, path);
    if (lib->category == PROFILE_JIT)
        lib->name = lib->path; /* "//anon" is no path with a last component */
    if (need_segments(modules, index) != 0)
        return PROFILE_NONE;
    module->lib = id;
    if (module->is_program)
        set_lib_name(modules, module);
    lib->base_svma = module->segments.base_svma;
    return id;
}

/*
 * Kernel and anonymous code have no addresses of their own but the runtime's; marks have none at
 * all, so all of one kind are one address.
 */
static uint64_t bias_of(const struct modules *modules, const struct mapping *mapping,
                        const struct profile_lib *lib)
{
    if (lib->is_synthetic)
        return mapping->start_avma;
    if (lib->category == PROFILE_KERNEL || lib->category == PROFILE_JIT)
        return 0;
    return module_segments_bias(&modules->modules[mapping->module].segments, mapping->start_avma,
                                mapping->file_offset);
}

/* The first place where a file was mapped stands for all; what else of it is mapped, anywhere, widens it. */
static void note_place(struct profile_lib *lib, const struct mapping *mapping, uint64_t bias)
{
    if (lib->map_end_avma == 0) {
        lib->map_start_avma = mapping->start_avma;
        lib->map_end_avma = mapping->end_avma;
        lib->map_file_offset = mapping->file_offset;
        lib->map_bias = bias;
        if (lib->category == PROFILE_KERNEL) /* its addresses are the runtime's, from _text on */
            lib->base_svma = mapping->start_avma;
    } else if (lib->category != PROFILE_JIT) {
        uint64_t start_avma = mapping->start_avma - bias + lib->map_bias;
        uint64_t end_avma = mapping->end_avma - bias + lib->map_bias;
        if (start_avma < lib->map_start_avma) {
            lib->map_start_avma = start_avma;
            lib->map_file_offset = mapping->file_offset;
        }
        if (end_avma > lib->map_end_avma)
            lib->map_end_avma = end_avma;
    }
    /* Its addresses are too large for formats that keep 32 bits, unless they have something to count
     * from. */
    if (lib->category == PROFILE_KERNEL && !lib->is_synthetic)
        lib->base_svma = lib->map_start_avma;
}

/* By the time that names are looked for, other code may be there. */
static void name_as_function(struct modules *modules, const struct mapping *mapping,
                             uint32_t address)
{
    const char *name = modules_path(modules, mapping->module);
    struct symbol_frame frame = {.name = name, .system_name = name};
    struct symbol_result result = {.frames = &frame,
                                   .frame_count = 1,
                                   .symbol_name = name,
                                   .symbol_svma = mapping->start_avma,
                                   .symbol_bytes = mapping->end_avma - mapping->start_avma};
    frames_add(modules->profile, &modules->profile->addresses[address], &result);
}

uint32_t modules_address(struct modules *modules, const struct mapping *mapping, uint64_t avma)
{
    uint32_t id = modules_lib(modules, mapping->module);
    if (id == PROFILE_NONE)
        return PROFILE_NONE;
    struct profile_lib *lib = &modules->profile->libs[id];
    uint64_t bias = bias_of(modules, mapping, lib);
    note_place(lib, mapping, bias);
    uint32_t address =
        profile_address_id(modules->profile, id, lib->is_synthetic ? 0 : avma - bias);
    if (address != PROFILE_NONE && modules->modules[mapping->module].is_function &&
        modules->profile->addresses[address].frame_count == 0)
        name_as_function(modules, mapping, address);
    return address;
}
