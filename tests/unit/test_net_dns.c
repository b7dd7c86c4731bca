/* test_net_dns - questions, answers and the book of names, from untrusted bytes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/net/book.h"
#include "core/net/dns.h"
#include "tests/support/check.h"

TEST(a_query_of_ours_is_read_again)
{
	uint8_t msg[DNS_UDP_MIN];
	size_t n = dns_query(msg, 0x1234, "registry.npmjs.org", DNS_AAAA);
	struct dns_question q;

	assert_int_equal(dns_read_question(&q, msg, n), 0);
	assert_int_equal(q.id, 0x1234);
	assert_string_equal(q.name, "registry.npmjs.org");
	assert_int_equal(q.type, DNS_AAAA);
	assert_true(q.edns && q.recurse);
	for (size_t i = 0; i < n; i++) /* a query cut at any byte is refused, without overreads */
		assert_true(dns_read_question(&q, msg, i) < 0);
}

/* A client's query with mixed case, flags and an option. */
TEST(a_query_is_built_anew)
{
	static const uint8_t opt[] = {0, 0, 41, 4, 208, 0,   0,	  0x80, 1,  0,
				      8, 9, 9,	0, 4,	'd', 'a', 't',	'a'};
	static const uint8_t plain[] = {0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0};
	uint8_t msg[DNS_UDP_MIN], own[DNS_UDP_MIN], expected[DNS_UDP_MIN];
	size_t bare = dns_query(msg, 7, "a.b", DNS_AAAA) - 11, n = bare, len;
	struct dns_question q;

	memcpy(expected, msg, bare);
	memcpy(expected + bare, plain, sizeof(plain));
	expected[3] = 0x10; /* CD */
	msg[3] = 0x7f;	    /* all bits without a meaning, and CD */
	msg[13] = 'A';
	memcpy(msg + n, opt, sizeof(opt));
	n += sizeof(opt);
	memcpy(msg + n, "behind", 6);
	assert_int_equal(dns_read_question(&q, msg, n + 6), 0);
	assert_true(q.sec && q.unchecked);
	len = dns_query_again(own, &q);
	assert_int_equal(len, bare + sizeof(plain));
	assert_memory_equal(own, expected, len);

	/* The answer has the client's case and id, and EDNS if the query had it. */
	dns_set_id(own, 99);
	assert_int_equal(dns_answer_again(own, len, msg, &q), len);
	assert_memory_equal(own, msg, 2);
	assert_memory_equal(own + 12, msg + 12, bare - 12);
	q.edns = false;
	assert_int_equal(dns_answer_again(own, len, msg, &q), bare);
	assert_int_equal(own[11], 0);
	assert_int_equal(dns_answer_again(own, bare, msg, &q), bare);
	assert_true(dns_is_asked(DNS_HTTPS) && dns_is_asked(16));
	assert_false(dns_is_asked(10) || dns_is_asked(252) || dns_is_asked(255) ||
		     dns_is_asked(65280));
}

TEST(names_that_no_host_has_are_refused)
{
	uint8_t msg[DNS_UDP_MIN];
	struct dns_question q;
	size_t n = dns_query(msg, 1, "a-b.c", DNS_A);

	msg[14] = ' ';
	assert_int_equal(dns_read_question(&q, msg, n), -EINVAL);
	msg[14] = '.';
	assert_int_equal(dns_read_question(&q, msg, n), -EINVAL);
	msg[14] = 0;
	assert_int_equal(dns_read_question(&q, msg, n), -EINVAL);
	msg[12] = 0xc0; /* a pointer to itself */
	msg[13] = 12;
	assert_int_equal(dns_read_question(&q, msg, n), -EINVAL);
	n = dns_query(msg, 1, "127.0.0.1", DNS_A);
	assert_int_equal(dns_read_question(&q, msg, n), -EINVAL);
}

struct found {
	struct net_addr list[8];
	size_t n;
};

static void note(void *data, const struct net_addr *a, uint32_t ttl)
{
	struct found *f = data;

	(void)ttl;
	if (f->n < ARRAY_LEN(f->list))
		f->list[f->n++] = *a;
}

/* Adds a record whose owner name is at `owner`. */
static size_t put_record(uint8_t *at, size_t owner, uint16_t type, const void *data, size_t len)
{
	const uint8_t head[12] = {0xc0, (uint8_t)owner, 0, (uint8_t)type, 0, 1, 0, 0, 0, 60,
				  0,	(uint8_t)len};

	memcpy(at, head, sizeof(head));
	memcpy(at + sizeof(head), data, len);
	return sizeof(head) + len;
}

/* a.b -> CNAME c.b -> 1.2.3.4; and 6.6.6.6 of another name that was not in the question. */
static size_t make_answer(uint8_t *msg, struct dns_question *q)
{
	static const uint8_t c_name[] = {1, 'c', 0xc0, 14}, good[] = {1, 2, 3, 4},
			     evil[] = {6, 6, 6, 6};
	size_t n = dns_query(msg, 7, "a.b", DNS_A), cname;

	assert_int_equal(dns_read_question(q, msg, n), 0);
	n = q->end;
	msg[2] |= 0x80;
	msg[7] = 3;
	msg[11] = 0;
	n += put_record(msg + n, 14, DNS_A, evil, 4);
	cname = n + 12;
	n += put_record(msg + n, 12, DNS_CNAME, c_name, sizeof(c_name));
	n += put_record(msg + n, cname, DNS_A, good, 4);
	return n;
}

TEST(only_the_names_own_addresses_count)
{
	uint8_t msg[DNS_UDP_MIN], query[DNS_UDP_MIN];
	struct dns_question q;
	struct found f = {.n = 0};
	size_t n = make_answer(msg, &q);

	dns_query(query, 7, "a.b", DNS_A);
	assert_true(dns_is_answer(msg, n, query, &q, 7));
	assert_false(dns_is_answer(msg, n, query, &q, 8));
	dns_query(query, 7, "a.c", DNS_A);
	assert_false(dns_is_answer(msg, n, query, &q, 7));
	assert_int_equal(dns_walk(msg, n, &q, note, &f), 0);
	assert_int_equal(f.n, 1);
	assert_int_equal(net_addr_as_v4(&f.list[0]), 0x01020304);
	for (size_t i = 0; i < n; i++) {
		f.n = 0;
		(void)!dns_walk(msg, i, &q, note, &f);
	}
}

TEST(hints_of_https_records_are_addresses)
{
	/* Priority 1, the name itself, ALPN "h2", two addresses of IPv4, one of IPv6. */
	static const uint8_t data[] = {0,   1,	  0, 0, 1, 0, 3, 2, 'h', '2', 0, 4,  0,	   8,
				       1,   2,	  3, 4, 5, 6, 7, 8, 0,	 6,   0, 16, 0x20, 1,
				       0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0,	 0,   0, 0,  0,	   9};
	uint8_t msg[DNS_UDP_MIN];
	struct dns_question q;
	struct found f = {.n = 0};
	size_t n = dns_query(msg, 7, "a.b", DNS_HTTPS);

	assert_int_equal(dns_read_question(&q, msg, n), 0);
	msg[2] |= 0x80;
	msg[7] = 1;
	msg[11] = 0;
	n = q.end + put_record(msg + q.end, 12, DNS_HTTPS, data, sizeof(data));
	assert_int_equal(dns_walk(msg, n, &q, note, &f), 0);
	assert_int_equal(f.n, 3);
	assert_int_equal(net_addr_as_v4(&f.list[0]), 0x01020304);
	assert_int_equal(net_addr_as_v4(&f.list[1]), 0x05060708);
	assert_int_equal(f.list[2].b[15], 9);
	for (size_t i = 0; i < n; i++) { /* a parameter that ends beyond its record is refused */
		f.n = 0;
		(void)!dns_walk(msg, i, &q, note, &f);
		assert_int_equal(f.n, 0);
	}
}

TEST(keys_for_encrypted_hellos_are_of_no_known_version)
{
	/* Priority 1, the name itself, ALPN "h2", ECH with two configurations, an address. */
	static const uint8_t data[] = {0, 1,  0, 0,  1,	   0,  3,  2,	 'h', '2',  0,	  5,
				       0, 13, 0, 11, 0xfe, 13, 0,  1,	 9,   0xfe, 13,	  0,
				       2, 8,  7, 0,  6,	   0,  16, 0x20, 1,   0xd,  0xb8, 0,
				       0, 0,  0, 0,  0,	   0,  0,  0,	 0,   0,    9};
	uint8_t msg[DNS_UDP_MIN], was[DNS_UDP_MIN];
	struct dns_question q;
	size_t n = dns_query(msg, 7, "a.b", DNS_HTTPS), at;

	assert_int_equal(dns_read_question(&q, msg, n), 0);
	msg[2] |= 0x80;
	msg[7] = 1;
	msg[11] = 0;
	n = q.end + put_record(msg + q.end, 12, DNS_HTTPS, data, sizeof(data));
	at = n - sizeof(data);
	memcpy(was, msg, n);
	for (size_t i = 0; i < at + 20; i++) { /* a record that is cut has none */
		dns_hide_ech(msg, i);
		assert_memory_equal(msg, was, n);
	}
	dns_hide_ech(msg, n);
	was[at + 16] = was[at + 17] = was[at + 21] = was[at + 22] = 0;
	assert_memory_equal(msg, was, n);
}

TEST(an_answer_lives_as_long_as_its_shortest_record)
{
	uint8_t msg[DNS_UDP_MIN];
	struct dns_question q;
	size_t n = make_answer(msg, &q), ttl = q.end + 6;

	assert_int_equal(dns_life(msg, n), 60);
	msg[ttl + 3] = 7;
	assert_int_equal(dns_life(msg, n), 7);
	dns_age(msg, n, 5);
	assert_int_equal(msg[ttl + 3], 2);
	assert_int_equal(dns_life(msg, n), 2);
	dns_age(msg, n, 5);
	assert_int_equal(dns_life(msg, n), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(dns_life(msg, i), 0);
	n = make_answer(msg, &q);
	msg[2] |= 2; /* cut */
	assert_int_equal(dns_life(msg, n), 0);
	n = make_answer(msg, &q);
	msg[3] |= DNS_FAILED;
	assert_int_equal(dns_life(msg, n), 0);
	n = make_answer(msg, &q);
	msg[7] = 0; /* an empty answer, without an SOA record that would give a lifetime */
	assert_int_equal(dns_life(msg, q.end), 0);
}

TEST(an_answer_is_cut_between_records)
{
	uint8_t msg[DNS_UDP_MIN];
	struct dns_question q;
	struct found f = {.n = 0};
	size_t n = make_answer(msg, &q), cut = dns_cut(msg, n, n - 1);

	assert_true(cut < n && cut > q.end);
	assert_true(dns_is_cut(msg));
	assert_int_equal(msg[7], 2);
	assert_int_equal(dns_walk(msg, cut, &q, note, &f), 0);
}

TEST(our_answers_say_what_they_should)
{
	uint8_t query[DNS_UDP_MIN], msg[DNS_UDP_MIN];
	struct net_addr a = net_addr_v4(0xc6120101);
	struct dns_question q;
	struct found f = {.n = 0};
	size_t n;

	n = dns_query(query, 9, "x.example", DNS_A);
	assert_int_equal(dns_read_question(&q, query, n), 0);
	n = dns_answer(msg, query, &q, DNS_OK, &a, NULL);
	assert_true(dns_is_answer(msg, n, query, &q, 9));
	assert_int_equal(dns_walk(msg, n, &q, note, &f), 0);
	assert_int_equal(f.n, 1);
	assert_true(net_addr_eq(&f.list[0], &a));
	n = dns_answer(msg, query, &q, DNS_NO_NAME, NULL, "no rule");
	assert_int_equal(dns_code(msg), DNS_NO_NAME);
	assert_memory_equal(msg + n - 7, "no rule", 7);
}

TEST(the_book_knows_the_newest_names_first)
{
	struct net_book *b = book_new();
	struct net_addr a = net_addr_v4(0x01020304), c = net_addr_v4(0x05060708);

	book_note(b, "one.example", &a);
	book_note(b, "two.example", &a);
	book_note(b, "one.example", &a);
	assert_string_equal(book_name(b, &a, 0), "one.example");
	assert_string_equal(book_name(b, &a, 1), "two.example");
	assert_null(book_name(b, &a, 2));
	assert_null(book_name(b, &c, 0));
	for (int i = 0; i < 20; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%d.example", i);
		book_note(b, name, &a);
	}
	assert_string_equal(book_name(b, &a, 0), "n19.example");
	assert_string_equal(book_name(b, &a, BOOK_NAMES - 1), "n12.example");
	assert_null(book_name(b, &a, BOOK_NAMES));
	book_free(b);
}

TEST(a_stand_in_means_one_name)
{
	struct net_book *b = book_new();
	struct net_addr first = book_stand_in(b, "a.example"), again, other;

	again = book_stand_in(b, "a.example");
	other = book_stand_in(b, "b.example");
	assert_true(net_addr_eq(&first, &again));
	assert_false(net_addr_eq(&first, &other));
	assert_true(book_is_stand_in(&first));
	assert_string_equal(book_meant(b, &other), "b.example");
	for (int i = 0; i < BOOK_STANDINS; i++) { /* a flood: the oldest are dropped */
		char name[32];

		snprintf(name, sizeof(name), "f%d.example", i);
		other = book_stand_in(b, name);
		assert_true(book_is_stand_in(&other));
	}
	assert_null(book_meant(b, &first));
	book_free(b);
}

TESTS(NULL, NULL)
