/* test_macos_alias - the helper that adds addresses: its input, and its rights at each moment. */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#include "backends/macos/alias/alias.h"
#include "tests/support/check.h"

/* ---- the argument ---------------------------------------------------------------------------- */

TEST(arguments)
{
	static const char *const bad[] = {"",
					  "127.0.0.1",
					  "127.0.0.0",
					  "127.255.255.255",
					  "127.0.0",
					  "127.0.0.2.",
					  "127.0.0.02",
					  "127.00.0.2",
					  "0127.0.0.2",
					  "127.0.0.256",
					  "127.0.0.2/8",
					  " 127.0.0.2",
					  "127.0.0.2 ",
					  "127.0.0.2\n",
					  "127.0..2",
					  "128.0.0.1",
					  "10.0.0.1",
					  "::1",
					  "localhost",
					  "2130706434",
					  "0x7f.0.0.2",
					  "127.2",
					  "-127.0.0.2",
					  "127.0.0.-2",
					  "127.0.0.4294967298"};
	uint32_t got = 0;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (alias_parse(&got, bad[i]))
			fail_msg("taken: '%s'", bad[i]);
	assert_int_equal(got, 0);
	assert_true(alias_parse(&got, "127.255.255.254"));
	assert_int_equal(got, 0x7ffffffe);
}

/* It accepts what inet_pton(3) accepts, except for the three, and no other network. */
TEST(every_address_of_some)
{
	uint64_t seed = 7;

	for (int i = 0; i < 200000; i++) {
		uint32_t want, got;
		char text[32];

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		want = (uint32_t)(seed >> 32);
		if (i % 2)
			want = (want & 0xffffffu) | 0x7f000000u;
		snprintf(text, sizeof(text), "%u.%u.%u.%u", want >> 24, want >> 16 & 255,
			 want >> 8 & 255, want & 255);
		if (alias_parse(&got, text) != (want >> 24 == 127 && want != 0x7f000000 &&
						want != 0x7f000001 && want != 0x7fffffff) ||
		    (want >> 24 == 127 && want > 0x7f000001 && want != 0x7fffffff && got != want))
			fail_msg("%s", text);
	}
}

/* ---- rights ---------------------------------------------------------------------------------- */

struct fake {
	enum {
		HAS,
		ASIDE,
		GONE
	} rights;
	int put_aside, take_up, give_up, list, add; /* return values, if negative */
	uint32_t there[300];
	int n;
	uint32_t added;
	char words[256];
};

static int put_aside(void *data)
{
	struct fake *f = data;

	assert_int_equal(f->rights, HAS);
	if (f->put_aside == 0)
		f->rights = ASIDE;
	return f->put_aside;
}

static int take_up(void *data)
{
	struct fake *f = data;

	assert_int_equal(f->rights, ASIDE);
	if (f->take_up == 0)
		f->rights = HAS;
	return f->take_up;
}

static int give_up(void *data)
{
	struct fake *f = data;

	if (f->give_up == 0)
		f->rights = GONE;
	return f->give_up;
}

static int list(void *data, uint32_t *out, size_t max)
{
	const struct fake *f = data;

	assert_int_equal(f->rights, ASIDE);
	for (size_t i = 0; i < max && i < (size_t)f->n; i++)
		out[i] = f->there[i];
	return f->list < 0 ? f->list : f->n;
}

static int add(void *data, uint32_t address)
{
	struct fake *f = data;

	assert_int_equal(f->rights, HAS);
	assert_int_equal(f->added, 0);
	f->added = address;
	return f->add;
}

static void say(void *data, const char *words, int code)
{
	struct fake *f = data;

	snprintf(f->words, sizeof(f->words), "%s %d", words, code);
}

static int run(struct fake *f, int argc, const char *one)
{
	char name[] = "cordon-loopback", text[32];
	char *const argv[] = {name, text, NULL};
	const struct alias_os os = {f, put_aside, take_up, give_up, list, add, say};

	snprintf(text, sizeof(text), "%s", one);
	return alias_run(&os, argc, argv);
}

TEST(rights)
{
	struct fake f = {.n = 1, .there = {0x7f000001}};

	assert_int_equal(run(&f, 2, "127.0.0.2"), ALIAS_DONE);
	assert_int_equal(f.added, 0x7f000002);
	assert_int_equal(f.rights, GONE);
	f = (struct fake){.n = 2, .there = {0x7f000001, 0x7f000002}};
	assert_int_equal(run(&f, 2, "127.0.0.2"), ALIAS_DONE);
	assert_int_equal(f.added, 0);
	assert_int_equal(f.rights, GONE);
	f = (struct fake){.n = ALIAS_MAX};
	assert_int_equal(run(&f, 2, "127.0.0.2"), ALIAS_FAILED);
	assert_int_equal(f.added, 0);
	assert_string_equal(f.words, "lo0 has too many addresses 0");
	f = (struct fake){.n = 300}; /* more than fit */
	assert_int_equal(run(&f, 2, "127.0.0.2"), ALIAS_FAILED);
	for (int argc = 0; argc < 5; argc++) {
		f = (struct fake){.n = 1};
		assert_int_equal(run(&f, argc, argc == 2 ? "127.0.0.1" : "127.0.0.2"), ALIAS_USAGE);
		assert_int_equal(f.added, 0);
		assert_int_equal(f.rights, GONE);
	}
}

TEST(failures)
{
	static const struct {
		struct fake f;
		int status;
		bool adds;
	} known[] = {
		{{.put_aside = -EPERM}, ALIAS_NO_RIGHTS, false},
		{{.list = -ENOMEM}, ALIAS_FAILED, false},
		{{.take_up = -EPERM}, ALIAS_NO_RIGHTS, false},
		{{.add = -EADDRNOTAVAIL}, ALIAS_FAILED, true},
		{{.give_up = -EPERM}, ALIAS_NO_RIGHTS, true},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct fake f = known[i].f;

		assert_int_equal(run(&f, 2, "127.0.0.2"), known[i].status);
		assert_int_equal(f.added, known[i].adds ? 0x7f000002 : 0);
		assert_int_equal(f.rights == GONE, known[i].f.give_up == 0);
		assert_true(*f.words);
	}
}

TESTS(NULL, NULL)
