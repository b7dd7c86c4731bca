/* addr - parses, classifies and formats host addresses. */
/* SPDX-License-Identifier: MIT */
#include "core/net/addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

struct net_addr net_addr_v4(uint32_t host_order)
{
	struct net_addr a;
	uint32_t n = htonl(host_order);

	memcpy(a.b, mapped, sizeof(mapped));
	memcpy(a.b + 12, &n, sizeof(n));
	return a;
}

bool net_addr_is_v4(const struct net_addr *a)
{
	return memcmp(a->b, mapped, sizeof(mapped)) == 0;
}

uint32_t net_addr_as_v4(const struct net_addr *a)
{
	uint32_t n;

	memcpy(&n, a->b + 12, sizeof(n));
	return ntohl(n);
}

bool net_addr_eq(const struct net_addr *a, const struct net_addr *b)
{
	return memcmp(a->b, b->b, sizeof(a->b)) == 0;
}

bool net_addr_in(const struct net_addr *a, const struct net_addr *net, unsigned bits)
{
	unsigned whole = bits / 8, rest = bits % 8;

	if (memcmp(a->b, net->b, whole) != 0)
		return false;
	return rest == 0 || (a->b[whole] ^ net->b[whole]) >> (8 - rest) == 0;
}

bool net_addr_parse(struct net_addr *ret, const char *text, size_t len)
{
	char copy[NET_ADDR_TEXT];
	struct in6_addr six;
	struct in_addr four;

	if (len == 0 || len >= sizeof(copy) || memchr(text, '\0', len))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	/* inet_aton(3) stops at a blank. */
	if (strpbrk(copy, " \t\r\n\v\f"))
		return false;
	if (inet_pton(AF_INET6, copy, &six) == 1) {
		memcpy(ret->b, &six, sizeof(ret->b));
		/* ::a.b.c.d, an old form of the IPv4 address; :: and ::1 are not of this form */
		if (memcmp(ret->b, (uint8_t[12]){0}, 12) == 0 && net_addr_as_v4(ret) > 0xffff)
			*ret = net_addr_v4(net_addr_as_v4(ret));
		return true;
	}
	if (inet_aton(copy, &four) == 0)
		return false;
	*ret = net_addr_v4(ntohl(four.s_addr));
	return true;
}

void net_addr_format(const struct net_addr *a, char out[NET_ADDR_TEXT])
{
	if (net_addr_is_v4(a))
		inet_ntop(AF_INET, a->b + 12, out, NET_ADDR_TEXT);
	else
		inet_ntop(AF_INET6, a->b, out, NET_ADDR_TEXT);
}

/* ---- classes --------------------------------------------------------------------------------- */

struct range {
	uint32_t net;
	unsigned bits;
	enum net_class class;
};

/* the first match counts */
static const struct range v4_ranges[] = {
	{0xa9fea9fe, 32, NET_METADATA}, /* 169.254.169.254: AWS, Azure, Google and others */
	{0xa9feaa02, 32, NET_METADATA}, /* 169.254.170.2: credentials of ECS tasks */
	{0x646464c8, 32, NET_METADATA}, /* 100.100.100.200: Alibaba */
	{0xc00000c0, 32, NET_METADATA}, /* 192.0.0.192: Oracle */
	{0xa83f8110, 32, NET_METADATA}, /* 168.63.129.16: Azure's agent, a public address */
	{0x7f000000, 8, NET_LOOPBACK},
	{0x00000000, 8, NET_OTHER}, /* Linux takes 0.0.0.0 for this host */
	{0xa9fe0000, 16, NET_LINK_LOCAL},
	{0x0a000000, 8, NET_PRIVATE},
	{0xac100000, 12, NET_PRIVATE},
	{0xc0a80000, 16, NET_PRIVATE},
	{0x64400000, 10, NET_PRIVATE}, /* shared by the customers of a provider; Tailscale */
	{0xc0000000, 24, NET_OTHER},
	{0xc6120000, 15, NET_OTHER}, /* 198.18/15, for benchmarks and stand-ins */
	{0xe0000000, 4, NET_OTHER},  /* multicast */
	{0xf0000000, 4, NET_OTHER},
};

static enum net_class class_v4(uint32_t host)
{
	for (size_t i = 0; i < ARRAY_LEN(v4_ranges); i++)
		if ((host ^ v4_ranges[i].net) >> (32 - v4_ranges[i].bits) == 0)
			return v4_ranges[i].class;
	return NET_PUBLIC;
}

static uint32_t v4_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static enum net_class class_v6(const struct net_addr *a)
{
	static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
	static const uint8_t aws[16] = {0xfd, 0x00, 0x0e, 0xc2, [14] = 0x02, [15] = 0x54};
	static const uint8_t teredo[4] = {0x20, 0x01, 0x00, 0x00};
	static const uint8_t none[15] = {0};

	if (memcmp(a->b, none, sizeof(none)) == 0)
		return a->b[15] == 1 ? NET_LOOPBACK : NET_OTHER;
	if (memcmp(a->b, aws, sizeof(aws)) == 0)
		return NET_METADATA;
	if (memcmp(a->b, nat64, sizeof(nat64)) == 0)
		return class_v4(v4_at(a->b + 12));
	if (a->b[0] == 0x20 && a->b[1] == 0x02) /* 6to4 */
		return class_v4(v4_at(a->b + 2));
	if (memcmp(a->b, teredo, sizeof(teredo)) == 0)
		return class_v4(~v4_at(a->b + 12));
	if (a->b[0] == 0x00 && a->b[1] == 0x64) /* 64:ff9b:1::/48, local NAT64 */
		return NET_PRIVATE;
	if (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80)
		return NET_LINK_LOCAL;
	if (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0xc0) /* site-local, obsolete */
		return NET_PRIVATE;
	if ((a->b[0] & 0xfe) == 0xfc)
		return NET_PRIVATE;
	return (a->b[0] & 0xe0) == 0x20 ? NET_PUBLIC : NET_OTHER;
}

enum net_class net_addr_class(const struct net_addr *a)
{
	return net_addr_is_v4(a) ? class_v4(net_addr_as_v4(a)) : class_v6(a);
}

const char *net_class_words(enum net_class c)
{
	static const char *const words[] = {
		[NET_PUBLIC] = "a public address",
		[NET_LOOPBACK] = "the host's own loopback",
		[NET_LINK_LOCAL] = "a link-local address",
		[NET_METADATA] = "a cloud's metadata service, which hands out credentials",
		[NET_PRIVATE] = "a private address",
		[NET_OTHER] = "no address of a single host",
	};

	return words[c];
}

/* ---- socket addresses ------------------------------------------------------------------------ */

bool net_addr_from_sock(struct net_addr *ret, uint16_t *ret_port, const struct sockaddr *sa,
			socklen_t len)
{
	struct sockaddr_in6 six;
	struct sockaddr_in four;

	if (len < sizeof(sa->sa_family))
		return false;
	if (sa->sa_family == AF_INET && len >= sizeof(four)) {
		memcpy(&four, sa, sizeof(four));
		*ret = net_addr_v4(ntohl(four.sin_addr.s_addr));
		*ret_port = ntohs(four.sin_port);
		return true;
	}
	if (sa->sa_family != AF_INET6 || len < offsetof(struct sockaddr_in6, sin6_scope_id))
		return false;
	memset(&six, 0, sizeof(six));
	memcpy(&six, sa, MIN(len, sizeof(six)));
	memcpy(ret->b, &six.sin6_addr, sizeof(ret->b));
	*ret_port = ntohs(six.sin6_port);
	return true;
}

socklen_t net_addr_to_sock(const struct net_addr *a, uint16_t port, struct sockaddr_storage *ret)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};

	memset(ret, 0, sizeof(*ret));
	if (net_addr_is_v4(a)) {
		memcpy(&four.sin_addr, a->b + 12, sizeof(four.sin_addr));
		memcpy(ret, &four, sizeof(four));
		return sizeof(four);
	}
	memcpy(&six.sin6_addr, a->b, sizeof(six.sin6_addr));
	memcpy(ret, &six, sizeof(six));
	return sizeof(six);
}
