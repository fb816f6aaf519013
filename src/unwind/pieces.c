/* SPDX-License-Identifier: MIT */
#include "unwind/pieces.h"

#include "unwind/cfi_header.h"
#include "unwind/row_index.h"

#include <errno.h>
#include <stdlib.h>

struct cfi_pieces {
    struct cfi_index all; /* without entries */
    struct cfi_table table;
    struct piece **pieces; /* NULL: nobody asked yet */
    size_t count;
};

struct piece {
    struct cfi_index index;
    struct on_demand *demand;
};

int cfi_pieces_new(struct cfi_pieces **out, const struct cfi_index *all,
                   const struct buffer *header, uint64_t header_svma)
{
    struct cfi_table table;
    *out = NULL;
    if (cfi_table_open(&table, all, header, header_svma) != 0)
        return -EBADMSG;
    struct cfi_pieces *pieces = calloc(1, sizeof(*pieces));
    if (!pieces)
        return -ENOMEM;
    pieces->all = *all;
    pieces->table = table;
    pieces->count = ((size_t)all->size + ROW_PIECE_BYTES - 1) / ROW_PIECE_BYTES;
    pieces->pieces = calloc(pieces->count, sizeof(struct piece *));
    if (!pieces->pieces) {
        cfi_pieces_free(pieces);
        return -ENOMEM;
    }
    *out = pieces;
    return 0;
}

static void piece_free(struct piece *piece)
{
    if (!piece)
        return;
    on_demand_free(piece->demand);
    cfi_index_free(&piece->index);
    free(piece);
}

void cfi_pieces_free(struct cfi_pieces *pieces)
{
    if (!pieces)
        return;
    for (size_t i = 0; pieces->pieces && i < pieces->count; i++)
        piece_free(pieces->pieces[i]);
    free(pieces->pieces);
    free(pieces);
}

size_t cfi_pieces_fdes(const struct cfi_pieces *pieces)
{
    return pieces->table.count;
}

int cfi_pieces_compile(const struct cfi_pieces *pieces, uint32_t start, uint64_t end,
                       struct compiled_rows *out)
{
    struct cfi_index index = pieces->all;
    int err = cfi_table_read(&pieces->table, &index, start, end);
    if (err == 0)
        err = compile_rows(&index, start, end, out);
    cfi_index_free(&index);
    return err;
}

/* NULL: memory is out. */
static struct piece *piece_new(const struct cfi_pieces *pieces, uint32_t start)
{
    struct piece *piece = calloc(1, sizeof(*piece));
    if (!piece)
        return NULL;
    piece->index = pieces->all;
    uint64_t end = (uint64_t)start + ROW_PIECE_BYTES;
    if (cfi_table_list(&pieces->table, &piece->index, start, end) == 0 &&
        on_demand_new(&piece->demand, &piece->index) == 0)
        return piece;
    piece_free(piece);
    return NULL;
}

struct on_demand *cfi_pieces_demand(struct cfi_pieces *pieces, uint32_t relative)
{
    struct piece **piece = &pieces->pieces[relative >> ROW_PIECE_SHIFT];
    if (!*piece)
        *piece = piece_new(pieces, relative & -ROW_PIECE_BYTES);
    return *piece ? (*piece)->demand : NULL;
}
