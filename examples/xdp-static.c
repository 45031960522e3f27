/* An XDP forwarder that looks nothing up: whatever comes in at port 0 leaves by port 1 with the
 * MAC addresses of fwdlab's lab, its TTL or hop limit one less. fwdlab puts the numbers of the
 * device's two interfaces into a map named "ports".
 *
 *   clang -O2 -g -target bpf -I/usr/include/$(uname -m)-linux-gnu -c xdp-static.c -o xdp-static.o
 */
#include <linux/bpf.h>

#define SEC(name) __attribute__((section(name), used))
#define MAP_TYPE(name, value) int (*name)[value]

static long (*bpf_redirect_map)(void *map, __u64 key, __u64 flags) = (void *)51;

struct {
	MAP_TYPE(type, BPF_MAP_TYPE_DEVMAP);
	MAP_TYPE(max_entries, 2);
	__u32 *key;
	__u32 *value;
} ports SEC(".maps");

struct ethernet {
	__u8 destination[6];
	__u8 source[6];
	__u16 type;
} __attribute__((packed));

SEC("xdp")
int forward(struct xdp_md *ctx)
{
	__u8 *frame = (void *)(long)ctx->data;
	__u8 *end = (void *)(long)ctx->data_end;
	struct ethernet *ethernet = (void *)frame;

	if (frame + 34 > end)
		return XDP_PASS;
	if (ethernet->type == __builtin_bswap16(0x0800)) {
		__u16 *checksum = (void *)(frame + 24);
		__u32 sum = *checksum;

		if (frame[22] <= 1)
			return XDP_PASS;
		frame[22]--;
		/* RFC 1141: the sum falls by 0x0100, so its complement rises by it. */
		sum += __builtin_bswap16(0x0100);
		*checksum = sum + (sum >> 16);
	} else if (ethernet->type == __builtin_bswap16(0x86dd)) {
		if (frame[21] <= 1)
			return XDP_PASS;
		frame[21]--;
	} else {
		return XDP_PASS;
	}
	for (int i = 0; i < 6; i++) {
		ethernet->destination[i] = i == 0 ? 2 : i == 5 ? 0xb0 : 0;
		ethernet->source[i] = i == 0 ? 2 : i == 5 ? 0x11 : 0;
	}
	return bpf_redirect_map(&ports, 1, XDP_PASS);
}

char _license[] SEC("license") = "Dual BSD/GPL";
