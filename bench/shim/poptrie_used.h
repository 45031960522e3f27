/* What a built poptrie uses of the memory that it reserved: the table of first bits, and the nodes
 * and leaves that can be reached from it. */
#ifndef FWDLAB_POPTRIE_USED_H
#define FWDLAB_POPTRIE_USED_H

#define IS_LEAF(cell) ((cell) >> 31)

static size_t used_below(const struct poptrie *poptrie, u32 index) {
    const poptrie_node_t *node = &poptrie->nodes[index];
    int children = popcnt(node->vector);
    size_t bytes = sizeof *node + sizeof(poptrie_leaf_t) * (size_t)popcnt(node->leafvec);
    for (int i = 0; i < children; i++)
        bytes += used_below(poptrie, node->base1 + (u32)i);
    return bytes;
}

static size_t used_bytes(const struct poptrie *poptrie) {
    size_t bytes = sizeof(u32) << POPTRIE_S;
    for (u32 i = 0; i < 1u << POPTRIE_S; i++)
        if (!IS_LEAF(poptrie->dir[i]))
            bytes += used_below(poptrie, poptrie->dir[i]);
    return bytes;
}

/* An answer is a pointer for poptrie, and none without a route: here the number itself. */
#define ANSWER(nexthop) ((void *)(uintptr_t)(nexthop))

struct built {
    struct poptrie *poptrie;
    uint32_t without;
};

static void close_built(void *table) {
    struct built *built = table;
    poptrie_release(built->poptrie);
    free(built);
}

/* Room for nodes and leaves, as powers of two: the sizes that its author recommends for full tables. */
#define NODES_LOG2 19
#define LEAVES_LOG2 22

static struct built *open_empty(uint32_t without) {
    struct built *built = malloc(sizeof *built);
    if (!built)
        return NULL;
    built->without = without;
    built->poptrie = poptrie_init(NULL, NODES_LOG2, LEAVES_LOG2);
    if (built->poptrie)
        return built;
    free(built);
    return NULL;
}

#endif
