/* test_vm_frame - frames of a guest: forwarded and dropped ones, and connections that are held. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/net/syn_gate.h"
#include "tests/support/vmframe.h"

static enum frame_kind kind(size_t len)
{
	struct frame f;

	return frame_read(&f, bytes, len);
}

static const char *const outside[] = {"203.0.113.7", "2001:db8:1::7"};

TEST(plain_packets_go_on)
{
	for (size_t i = 0; i < 2; i++) {
		bool v6 = i == 1;
		size_t len = segment(outside[i], 2);
		struct frame f;

		assert_int_equal(frame_read(&f, bytes, len), FRAME_OPENS);
		assert_true(f.packet == bytes + FRAME_HEAD);
		assert_int_equal(f.len, len - FRAME_HEAD);
		assert_int_equal(f.from_port, 40000);
		assert_int_equal(f.port, 443);
		assert_int_equal(f.seq, 0x12345678);
		assert_true(net_addr_eq(&f.to, &(struct net_addr){{0}}) == false);
		/* Padding of a short frame is ignored. */
		assert_int_equal(frame_read(&f, bytes, len + 6), FRAME_OPENS);
		assert_int_equal(f.len, len - FRAME_HEAD);
		assert_int_equal(kind(segment(outside[i], 0x10)), FRAME_PACKET);
		assert_int_equal(kind(segment(outside[i], 0x12)), FRAME_PACKET);
		assert_int_equal(kind(segment(outside[i], 0x04)), FRAME_PACKET);
		assert_int_equal(kind(datagram(outside[i], 0)), FRAME_PACKET);
		assert_int_equal(kind(datagram(outside[i], 60000)), FRAME_PACKET);
		len = make(outside[i], v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP, 8);
		bytes[len - 8] = v6 ? 128 : 8;
		assert_int_equal(kind(len), FRAME_PACKET);
		bytes[len - 8] = v6 ? 136 : 5; /* a neighbour advertisement, a redirect */
		assert_int_equal(kind(len), FRAME_DROPPED);
	}
	assert_int_equal(kind(segment("198.18.0.1", 2)), FRAME_PACKET); /* the resolver */
	assert_int_equal(kind(datagram("198.18.0.1", 20)), FRAME_PACKET);
	assert_int_equal(kind(segment("198.19.255.1", 2)), FRAME_OPENS); /* a placeholder address */
	assert_int_equal(kind(segment("10.9.9.9", 2)), FRAME_OPENS);	 /* asked about */
}

TEST(every_length_is_looked_at)
{
	for (size_t i = 0; i < 2; i++) {
		size_t len = segment(outside[i], 2), ip = i ? IP + 4 : IP + 2;

		for (size_t cut = 0; cut < len; cut++)
			assert_int_equal(kind(cut), FRAME_DROPPED);
		for (unsigned says = 0; says < 2000; says++) { /* a wrong packet length */
			segment(outside[i], 2);
			put16(ip, says);
			assert_int_equal(kind(len), says == len - FRAME_HEAD - i * 40
							    ? FRAME_OPENS
							    : FRAME_DROPPED);
		}
		for (unsigned words = 0; words < 16; words++) { /* the segment's header length */
			segment(outside[i], 2);
			bytes[len - 20 + 12] = (uint8_t)(words << 4);
			assert_int_equal(kind(len), words == 5 ? FRAME_OPENS : FRAME_DROPPED);
		}
		len = datagram(outside[i], 8);
		for (unsigned says = 0; says < 100; says++) {
			put16(len - 16 + 4, says);
			assert_int_equal(kind(len), says == 16 ? FRAME_PACKET : FRAME_DROPPED);
		}
	}
	assert_int_equal(kind(FRAME_MAX + 1), FRAME_DROPPED);
}

TEST(what_is_not_plain_is_dropped)
{
	static const unsigned types[] = {0x0806, 0x8100, 0x88a8, 0x8863, 0x88cc, 0x0600, 20, 0};
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		len = datagram(outside[0], 9);
		put16(12, types[i]);
		assert_int_equal(kind(len), FRAME_DROPPED);
	}
	len = datagram(outside[0], 9); /* other family */
	put16(12, 0x86dd);
	assert_int_equal(kind(len), FRAME_DROPPED);
	for (unsigned words = 0; words < 16; words++) { /* options, or a missing header */
		len = datagram(outside[0], 64);
		bytes[IP] = (uint8_t)(0x40 | words);
		assert_int_equal(kind(len), words == 5 ? FRAME_PACKET : FRAME_DROPPED);
	}
	for (unsigned bit = 0; bit < 16; bit++) { /* fragments */
		len = datagram(outside[0], 64);
		put16(IP + 6, 1u << bit);
		assert_int_equal(kind(len), bit >= 14 ? FRAME_PACKET : FRAME_DROPPED);
	}
	for (unsigned p = 0; p < 256; p++) { /* other protocols, extension headers */
		bool known = p == IPPROTO_TCP || p == IPPROTO_UDP;

		for (size_t i = 0; i < 2; i++) {
			len = make(outside[i], (uint8_t)p, 40);
			if (!known)
				assert_int_equal(kind(len), FRAME_DROPPED);
		}
	}
	len = segment(outside[0], 2); /* data in the first packet */
	put16(IP + 2, 41);
	assert_int_equal(kind(len + 1), FRAME_DROPPED);
	assert_int_equal(kind(segment(outside[0], 3)), FRAME_DROPPED);
	assert_int_equal(kind(segment(outside[0], 6)), FRAME_DROPPED);
	len = segment(outside[0], 2);
	put16(TCP4 + 2, 0);
	assert_int_equal(kind(len), FRAME_DROPPED);
}

TEST(others_addresses_are_dropped)
{
	static const char *const nobody[] = {
		"127.0.0.1", "127.0.0.53", "0.0.0.0",	      "0.1.2.3",     "224.0.0.251",
		"239.1.1.1", "240.0.0.1",  "255.255.255.255", "198.18.0.2",  "::1",
		"::",	     "ff02::1",	   "fe80::1",	      "fdc0:7d0::2", "ff05::1:3"};
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(nobody); i++) {
		assert_int_equal(kind(segment(nobody[i], 2)), FRAME_DROPPED);
		assert_int_equal(kind(segment(nobody[i], 16)), FRAME_DROPPED);
		assert_int_equal(kind(datagram(nobody[i], 4)), FRAME_DROPPED);
	}
	for (size_t i = 0; i < 2; i++)
		for (size_t bit = 0; bit < (i ? 128 : 32); bit++) { /* another sender */
			len = datagram(outside[i], 4);
			bytes[(i ? IP + 8 : IP + 12) + bit / 8] ^= (uint8_t)(1 << bit % 8);
			assert_int_equal(kind(len), FRAME_DROPPED);
		}
	for (size_t bit = 0; bit < 48; bit++) {
		len = datagram(outside[0], 4);
		bytes[6 + bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(kind(len), FRAME_DROPPED);
	}
	/* IPv4 in IPv6 could be taken for IPv4. */
	len = datagram(outside[1], 4);
	memset(bytes + IP + 24, 0, 10);
	memset(bytes + IP + 34, 0xff, 2);
	assert_int_equal(kind(len), FRAME_DROPPED);
}

TEST(a_reset_answers_it)
{
	uint8_t out[FRAME_RESET];

	for (size_t i = 0; i < 2; i++) {
		size_t head = i ? 40 : 20, at = i ? 8 : 12, size = i ? 16 : 4, len;
		const uint8_t *ip = out + FRAME_HEAD, *tcp = ip + head;
		size_t in = segment(outside[i], 2);

		len = frame_reset(out, bytes + FRAME_HEAD, in - FRAME_HEAD);
		assert_int_equal(len, FRAME_HEAD + head + 20);
		assert_true(frame_is_for_guest(ip, len - FRAME_HEAD));
		assert_memory_equal(ip + at, bytes + IP + at + size, size);
		assert_int_equal(tcp[0] << 8 | tcp[1], 443);
		assert_int_equal(tcp[2] << 8 | tcp[3], 40000);
		assert_int_equal(tcp[11], 0x79); /* follows the SYN's number */
		assert_int_equal(tcp[13], 0x14);
		if (!i)
			assert_int_equal(sum_of(ip, 20, 0), 0);
		assert_int_equal(sum_of(ip + at, 2 * size + 20, 6 + 20), 0);
		assert_int_equal(frame_reset(out, bytes + FRAME_HEAD, head + 19), 0);
	}
}

TEST(only_the_guests_packets_come_to_it)
{
	size_t len = segment(outside[0], 2);

	assert_false(frame_is_for_guest(bytes + IP, len - IP));
	memcpy(bytes + IP + 16, bytes + IP + 12, 4);
	assert_true(frame_is_for_guest(bytes + IP, len - IP));
	assert_false(frame_is_for_guest(bytes + IP, 19));
	len = segment(outside[1], 2);
	assert_false(frame_is_for_guest(bytes + IP, len - IP));
	memcpy(bytes + IP + 24, bytes + IP + 8, 16);
	assert_true(frame_is_for_guest(bytes + IP, len - IP));
	assert_false(frame_is_for_guest(bytes + IP, 39));
	assert_false(frame_is_for_guest(bytes + IP, 0));
}

/* ---- the gate -------------------------------------------------------------------------------- */

static struct frame first(uint16_t from_port, uint32_t seq)
{
	struct frame f;

	assert_int_equal(frame_read(&f, bytes, segment(outside[0], 2)), FRAME_OPENS);
	f.from_port = from_port;
	f.seq = seq;
	return f;
}

static enum syn_verdict take(struct syn_gate *g, uint16_t port, uint32_t seq, int64_t now,
			     uint64_t *id)
{
	const struct frame f = first(port, seq);
	uint64_t gone = 0;

	*id = 0;
	return syn_gate_take(g, &f, now, id, &gone);
}

TEST(a_connection_waits_and_goes_on)
{
	struct syn_gate *g = syn_gate_new();
	uint64_t id, other, none;
	size_t len = 0;

	assert_int_equal(syn_gate_next(g), 0);
	assert_int_equal(take(g, 1, 7, 1000, &id), SYN_ASK);
	assert_int_equal(take(g, 1, 7, 2000, &none), SYN_DROP); /* repeated, it waits */
	assert_int_equal(take(g, 2, 7, 3000, &other), SYN_ASK);
	assert_true(id != other);
	assert_non_null(syn_gate_decide(g, id, true, &len));
	assert_int_equal(len, 40);
	assert_null(syn_gate_decide(g, id, true, &len)); /* once */
	assert_int_equal(take(g, 1, 7, 4000, &none), SYN_PASS);
	assert_int_equal(take(g, 1, 8, 5000, &none), SYN_ASK); /* a later, different connection */
	assert_true(none != id);
	assert_non_null(syn_gate_decide(g, other, false, &len));
	assert_int_equal(take(g, 2, 7, 6000, &other), SYN_ASK); /* the refused one is forgotten */
	syn_gate_forget(g, other);
	assert_null(syn_gate_decide(g, other, true, &len));
	assert_null(syn_gate_decide(g, 999, true, &len));
	syn_gate_free(g);
}

TEST(nobody_waits_for_ever)
{
	struct syn_gate *g = syn_gate_new();
	uint64_t a, b, none;

	take(g, 1, 7, 1, &a);
	take(g, 2, 7, 2, &b);
	assert_int_equal(syn_gate_next(g), 1 + SYN_GONE_US);
	take(g, 1, 7, 40000000, &none); /* the guest still waits */
	assert_int_equal(syn_gate_gone(g, 1 + SYN_GONE_US), 0);
	assert_int_equal(syn_gate_gone(g, 2 + SYN_GONE_US), b);
	assert_int_equal(syn_gate_gone(g, 2 + SYN_GONE_US), 0);
	assert_int_equal(syn_gate_gone(g, 40000000 + SYN_GONE_US), a);
	assert_int_equal(syn_gate_next(g), 0);
	syn_gate_free(g);
}

TEST(a_flood_is_bounded)
{
	struct syn_gate *g = syn_gate_new();
	uint64_t id, oldest, gone = 0;
	struct frame f;
	size_t len;

	take(g, 1, 7, 1, &oldest);
	for (uint16_t i = 2; i <= SYN_HELD_MAX; i++)
		assert_int_equal(take(g, i, 7, 1, &id), SYN_ASK);
	assert_int_equal(take(g, 9999, 7, SYN_CROWD_US, &id), SYN_DROP);
	f = first(9999, 7); /* a connection without a repetition for a second is dropped */
	assert_int_equal(syn_gate_take(g, &f, SYN_CROWD_US + 1, &id, &gone), SYN_ASK);
	assert_int_equal(gone, oldest);
	assert_null(syn_gate_decide(g, oldest, true, &len));
	assert_non_null(syn_gate_decide(g, id, true, &len));
	/* Allowed connections are forgotten, too. */
	for (unsigned i = 0; i < 2 * SYN_KNOWN_MAX; i++) {
		assert_int_equal(take(g, (uint16_t)(20000 + i), 7, SYN_CROWD_US + 2, &id), SYN_ASK);
		assert_non_null(syn_gate_decide(g, id, true, &len));
	}
	assert_int_equal(
		take(g, (uint16_t)(20000 + 2 * SYN_KNOWN_MAX - 1), 7, SYN_CROWD_US + 3, &id),
		SYN_PASS);
	assert_int_equal(take(g, 20000, 7, SYN_CROWD_US + 3, &id), SYN_ASK);
	syn_gate_free(g);
}

TESTS(NULL, NULL)
