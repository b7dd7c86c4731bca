/* test_net_packet - packets of the agent: read, answered and refused. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <netinet/in.h>

#include "core/net/packet.h"
#include "tests/support/check.h"

static uint8_t out[PACKET_MAX];

static struct packet datagram(const char *from, const char *to, const char *text)
{
	struct packet p = {.protocol = IPPROTO_UDP,
			   .from_port = 40000,
			   .to_port = 123,
			   .data = (const uint8_t *)text,
			   .len = strlen(text)};

	assert_true(net_addr_parse(&p.from, from, strlen(from)));
	assert_true(net_addr_parse(&p.to, to, strlen(to)));
	return p;
}

/* Computes the checksum as in the textbook, 16 bits at a time: 0 if it is right. */
static uint16_t sum_of(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static uint32_t pseudo(const uint8_t *ip, size_t addrs, size_t size, unsigned protocol, size_t len)
{
	uint16_t sum = sum_of(ip + addrs, size, 0);

	return (uint16_t)~sum + protocol + (uint32_t)len;
}

TEST(what_is_written_is_read_again)
{
	static const char *const ends[][2] = {{"198.18.0.2", "203.0.113.7"},
					      {"fdc0:7d0::2", "2001:db8:1::7"}};

	for (size_t i = 0; i < 2; i++) {
		for (size_t cut = 0; cut < 5; cut++) {
			struct packet p = datagram(ends[i][0], ends[i][1], &"hello"[cut]), q;
			size_t n = packet_write(out, &p), head = i ? 40 : 20;

			assert_int_equal(n, head + 8 + p.len);
			assert_int_equal(packet_read(&q, out, n), 0);
			assert_true(net_addr_eq(&q.from, &p.from) && net_addr_eq(&q.to, &p.to));
			assert_int_equal(q.from_port, 40000);
			assert_int_equal(q.to_port, 123);
			assert_int_equal(q.len, p.len);
			assert_memory_equal(q.data, p.data, p.len);
			if (!i)
				assert_int_equal(sum_of(out, 20, 0), 0);
			assert_int_equal(
				sum_of(out + head, n - head,
				       pseudo(out, i ? 8 : 12, i ? 32 : 8, IPPROTO_UDP, n - head)),
				0);
			for (size_t j = 0; j < n; j++) /* a packet that is cut is refused */
				assert_true(packet_read(&q, out, j) < 0);
		}
	}
}

TEST(echo_replies_are_what_ping_expects)
{
	struct packet p = datagram("203.0.113.7", "198.18.0.2", "0123456"), q;
	size_t n;

	p.protocol = IPPROTO_ICMP;
	p.from_port = 77;
	p.seq = 5;
	n = packet_write(out, &p);
	assert_int_equal(n, 20 + 8 + 7);
	assert_int_equal(out[20], 0);
	assert_int_equal(sum_of(out + 20, n - 20, 0), 0);
	assert_int_equal(packet_read(&q, out, n), -EPROTONOSUPPORT); /* a reply is not a request */
	out[20] = 8;
	assert_int_equal(packet_read(&q, out, n), 0);
	assert_int_equal(q.protocol, IPPROTO_ICMP);
	assert_int_equal(q.from_port, 77);
	assert_int_equal(q.seq, 5);
	assert_int_equal(q.len, 7);
	p = datagram("2001:db8::1", "fdc0:7d0::2", "abc");
	p.protocol = IPPROTO_ICMP;
	n = packet_write(out, &p);
	assert_int_equal(out[40], 129);
	assert_int_equal(sum_of(out + 40, n - 40, pseudo(out, 8, 32, IPPROTO_ICMPV6, n - 40)), 0);
}

TEST(refusals_quote_the_packet)
{
	struct packet p = datagram("198.18.0.2", "203.0.113.7", "x"), q;
	size_t n = packet_refuse(out, &p, PACKET_FORBIDDEN, 0);

	assert_true(n <= PACKET_ERROR);
	assert_int_equal(out[20], 3);
	assert_int_equal(out[21], 13);
	assert_int_equal(sum_of(out, 20, 0), 0);
	assert_int_equal(sum_of(out + 20, n - 20, 0), 0);
	assert_memory_equal(out + 12, p.to.b + 12, 4);	      /* from its destination */
	assert_memory_equal(out + 28 + 12, p.from.b + 12, 4); /* with the agent's packet */
	assert_int_equal(out[48] << 8 | out[49], 40000);
	assert_int_equal(packet_read(&q, out, n), -EPROTONOSUPPORT);
	p = datagram("fdc0:7d0::2", "2001:db8:1::7", "x");
	n = packet_refuse(out, &p, PACKET_TOO_LONG, 1280);
	assert_true(n <= PACKET_ERROR);
	assert_int_equal(out[40], 2);
	assert_int_equal(out[46] << 8 | out[47], 1280);
	assert_int_equal(sum_of(out + 40, n - 40, pseudo(out, 8, 32, IPPROTO_ICMPV6, n - 40)), 0);
}

/* The sender's kernel leaves the checksum of a first packet open. */
TEST(a_segment_is_completed_and_refused)
{
	static const uint8_t syn[24] = {0x9c, 0x40,	0,	     80,   1,	 2,
					3,    4,	[12] = 0x60, 0x02, 0xff, [16] = 0xab,
					0xcd, [20] = 2, 4,	     5,	   0xb4};
	static const char *const from[] = {"198.18.0.2", "fdc0:7d0::2"};
	static const char *const to[] = {"203.0.113.7", "2001:db8:1::7"};

	for (size_t i = 0; i < ARRAY_LEN(from); i++) {
		struct packet p = datagram(from[i], to[i], ""), q;
		size_t head = i ? 40 : 20, quoted = 2 * head + 8, n;

		p.protocol = IPPROTO_TCP;
		p.data = syn;
		p.len = sizeof(syn);
		n = packet_write(out, &p);
		assert_int_equal(n, head + sizeof(syn));
		assert_int_equal(sum_of(out + head, n - head,
					pseudo(out, i ? 8 : 12, i ? 32 : 8, IPPROTO_TCP, n - head)),
				 0);
		assert_int_equal(packet_read(&q, out, n), 0);
		assert_int_equal(q.from_port, 40000);
		assert_int_equal(q.to_port, 80);
		assert_int_equal(q.flags, PACKET_TCP_SYN);
		assert_int_equal(q.len, sizeof(syn));
		out[head + 12] = 0x70; /* its header is longer than the segment */
		assert_int_equal(packet_read(&q, out, n), -EBADMSG);
		out[head + 12] = 0x40;
		assert_int_equal(packet_read(&q, out, n), -EBADMSG);
		n = packet_refuse(out, &p, PACKET_NO_PORT, 0);
		assert_true(n <= PACKET_ERROR);
		assert_memory_equal(out + quoted, syn, 8);
		p.len = 19;
		assert_int_equal(packet_write(out, &p), 0);
	}
}

TEST(damage_is_refused)
{
	struct packet p = datagram("198.18.0.2", "203.0.113.7", "hello"), q;
	uint8_t bad[64];
	size_t n = packet_write(out, &p);

	static const struct {
		size_t at;
		uint8_t value;
		int want;
	} changes[] = {{0, 0x44, -EBADMSG},	    /* a header that is too short */
		       {0, 0x4f, -EBADMSG},	    /* or one longer than the packet */
		       {0, 0x55, -EBADMSG},	    /* no IP */
		       {3, 19, -EBADMSG},	    /* a length below that of its header */
		       {3, 200, -EBADMSG},	    /* beyond the end of the packet */
		       {6, 0x20, -EPROTONOSUPPORT}, /* a fragment */
		       {7, 1, -EPROTONOSUPPORT},
		       {9, 6, -EBADMSG},	  /* TCP without a header */
		       {9, 47, -EPROTONOSUPPORT}, /* GRE */
		       {25, 7, -EBADMSG},	  /* UDP's length below that of its header */
		       {25, 14, -EBADMSG},	  /* beyond the packet */
		       {23, 0, -EBADMSG}};	  /* port 0 */

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		memcpy(bad, out, n);
		bad[changes[i].at] = changes[i].value;
		assert_int_equal(packet_read(&q, bad, n), changes[i].want);
	}
	p = datagram("fdc0:7d0::2", "2001:db8:1::7", "x");
	n = packet_write(bad, &p);
	memcpy(bad + 24, net_addr_v4(0x7f000001).b, 16); /* ::ffff:127.0.0.1 by IPv6 */
	assert_int_equal(packet_read(&q, bad, n), -EBADMSG);
	p.data = out;
	p.len = PACKET_MAX;
	assert_int_equal(packet_write(out, &p), 0);
}

TESTS(NULL, NULL)
