/* SPDX-License-Identifier: MIT */
#include "unwind/rows/lazy_index.h"

#include "unwind/cfi/eh_frame_hdr.h"
#include "unwind/rows/row_index.h"
#include "unwind/rows/row_room.h"

#include <errno.h>
#include <stdlib.h>

/* A function has its record in each piece it extends to. The records of all pieces have at most the
 * bytes of the section and these: a compiler's largest function has 20 KB of records, in 2 pieces,
 * and a hostile record has megabytes, in 32 768 pieces. */
enum { SPANNING_BYTES_MAX = 1 << 20 };

struct lazy_index {
    struct cfi_index all; /* without entries */
    struct fde_table table;
    struct piece **pieces; /* NULL: not looked up yet */
    size_t count;
    size_t bytes_left; /* of the records in pieces */
    size_t held_bytes; /* of the room, by the array of pieces */
};

struct piece {
    struct cfi_index index;
    struct lazy_rules *lazy;
};

int lazy_index_new(struct lazy_index **out, const struct cfi_index *all,
                   const struct buffer *header, uint64_t header_svma)
{
    struct fde_table table;
    *out = NULL;
    if (eh_frame_hdr_open(&table, all, header, header_svma) != 0)
        return -EBADMSG;
    struct lazy_index *pieces = calloc(1, sizeof(*pieces));
    if (!pieces)
        return -ENOMEM;
    pieces->all = *all;
    pieces->table = table;
    pieces->bytes_left = all->sections[0].size + SPANNING_BYTES_MAX;
    pieces->count = ((size_t)all->size + ROW_PIECE_BYTES - 1) / ROW_PIECE_BYTES;
    pieces->pieces = calloc(pieces->count, sizeof(struct piece *));
    if (!pieces->pieces) {
        lazy_index_free(pieces);
        return -ENOMEM;
    }
    row_room_hold(all->room, &pieces->held_bytes, pieces->count * sizeof(struct piece *));
    *out = pieces;
    return 0;
}

static void piece_free(struct piece *piece)
{
    if (!piece)
        return;
    lazy_rules_free(piece->lazy);
    cfi_index_free(&piece->index);
    free(piece);
}

void lazy_index_free(struct lazy_index *pieces)
{
    if (!pieces)
        return;
    for (size_t i = 0; pieces->pieces && i < pieces->count; i++)
        piece_free(pieces->pieces[i]);
    row_room_hold(pieces->all.room, &pieces->held_bytes, 0);
    free(pieces->pieces);
    free(pieces);
}

size_t lazy_index_fdes(const struct lazy_index *pieces)
{
    return pieces->table.count;
}

int lazy_index_compile(const struct lazy_index *pieces, uint32_t start, uint64_t end,
                       struct compiled_rows *out)
{
    struct cfi_index index = pieces->all;
    int err = eh_frame_hdr_read_part(&pieces->table, &index, start, end);
    if (err == 0)
        err = compile_rows(&index, start, end, out);
    cfi_index_free(&index);
    return err;
}

/* NULL: memory or room is out. */
static struct piece *piece_new(struct lazy_index *pieces, uint32_t start)
{
    struct piece *piece = row_room_is_left(pieces->all.room) ? calloc(1, sizeof(*piece)) : NULL;
    if (!piece)
        return NULL;
    piece->index = pieces->all;
    piece->index.shared_bytes = &pieces->bytes_left;
    uint64_t end = (uint64_t)start + ROW_PIECE_BYTES;
    if (eh_frame_hdr_list(&pieces->table, &piece->index, start, end) == 0 &&
        lazy_rules_new(&piece->lazy, &piece->index) == 0)
        return piece;
    piece_free(piece);
    return NULL;
}

struct lazy_rules *lazy_index_rules(struct lazy_index *pieces, uint32_t relative)
{
    struct piece **piece = &pieces->pieces[relative >> ROW_PIECE_SHIFT];
    if (!*piece)
        *piece = piece_new(pieces, relative & -ROW_PIECE_BYTES);
    return *piece ? (*piece)->lazy : NULL;
}
