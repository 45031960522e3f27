/* The names of FreeBSD's kernel that a lookup module uses, for user space: memory from malloc, no
 * locks (one thread builds), no sysctls, and a routing table that the includer gives. Addresses stay
 * in host order on both sides, so that nobody turns bytes while time is taken.
 */
#ifndef FWDLAB_FREEBSD_H
#define FWDLAB_FREEBSD_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <ctype.h>
#include <sys/cdefs.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/syslog.h>
#include <sys/time.h>

#undef ntohl
#undef htonl
#define ntohl(x) (x)
#define htonl(x) (x)
/* Linux's socket addresses have no length; these bytes are padding. */
#define sin_len sin_zero[0]

#define CTASSERT(x) _Static_assert(x, #x)
#define MPASS(x) ((void)0)
#define __predict_true(x) __builtin_expect(!!(x), 1)
#define __predict_false(x) __builtin_expect(!!(x), 0)
#define __unused __attribute__((unused))
#define __containerof(pointer, type, field) ((type *)((char *)(pointer)-offsetof(type, field)))
#define fls(x) ((x) ? 32 - __builtin_clz((unsigned)(x)) : 0)
#define atomic_add_int(at, by) ((void)(*(at) += (by)))
#define microuptime(at) gettimeofday(at, NULL)
#define LIST_PREV(item, head, type, field)                                                         \
    ((item)->field.le_prev == &LIST_FIRST(head)                                                    \
         ? NULL                                                                                    \
         : __containerof((item)->field.le_prev, struct type, field.le_next))

static inline int atomic_fetchadd_int(void *at, int by) {
    int *value = at, before = *value;
    *value += by;
    return before;
}

/* Memory. */
enum { M_NOWAIT, UMA_ALIGN_PTR };
#define MALLOC_DEFINE(type, name, about) __unused const char *const type = name
#define malloc(size, type, flags) malloc(size)
#define realloc(pointer, size, type, flags) realloc(pointer, size)
#define free(pointer, type) free(pointer)
typedef size_t uma_zone_t;
#define uma_zcreate(name, size, a, b, c, d, e, f) (size)
#define uma_zdestroy(zone) ((void)0)
#define uma_zalloc(zone, flags) (malloc)(zone)
#define uma_zfree(zone, pointer) (free)(pointer)

/* Variables of a network stack, sysctls, modules. */
#define VNET_DECLARE(type, name) extern type name
#define VNET_DEFINE_STATIC(type, name) static type name
#define VNET(name) name
#define SYSCTL_DECL(name) struct unused_declaration
#define SYSCTL_NODE(...) struct unused_declaration
#define SYSCTL_PROC(...) struct unused_declaration
#define SYSCTL_HANDLER_ARGS void *oidp, struct sysctl_req *req
#define sysctl_handle_string(oid, buffer, size, request) ((void)(oid), 0)
#define MODULE_VERSION(name, version) struct unused_declaration
#define DECLARE_MODULE(name, data, sub, order) __unused static void *const name##_module = &(data)
struct sysctl_req {
    void *newptr;
};
enum { MOD_LOAD, MOD_UNLOAD };
typedef void *module_t;
typedef struct {
    const char *name;
    int (*event)(module_t, int, void *);
    void *extra;
} moduledata_t;

typedef struct epoch_context {
    void *unused;
} *epoch_context_t;
typedef void epoch_callback_t(epoch_context_t);

/* Routes. */
enum { RIB_FLAG_LOCKED, NHR_UNLOCKED };
enum rib_subscription_type { RIB_NOTIFY_UNUSED };
struct nhop_object;
struct rtentry;
struct rib_head;
struct rib_cmd_info;
struct route_nhop_data {
    struct nhop_object *rnd_nhop;
};

/* Given by the includer. */
static struct rtentry *fib4_lookup_rt(uint32_t fibnum, struct in_addr dst, uint32_t scope, int flags,
                                      struct route_nhop_data *found);
static void rt_get_inet_prefix_plen(const struct rtentry *rt, struct in_addr *addr, uint32_t *len,
                                    uint32_t *scope);
static struct nhop_object *rt_get_raw_nhop(const struct rtentry *rt);
static void rib_walk_from(uint32_t fibnum, int family, uint32_t flags, struct sockaddr *dst,
                          struct sockaddr *mask, int (*walk)(struct rtentry *, void *), void *arg);

#endif
