/* book - the names of this session's addresses, and stand-in addresses for names. */
/* SPDX-License-Identifier: MIT */
#include "core/net/book.h"

#include <assert.h>
#include <string.h>

#include "core/base/hash.h"

#define STAND_IN_NET  0xc6120000u /* 198.18.0.0 */
#define STAND_IN_BITS 15
#define FIRST	      257 /* 198.18.1.1 */

struct known {
	struct net_addr addr;
	char *names[BOOK_NAMES]; /* newest first */
	UT_hash_handle hh;
};

struct stand_in {
	struct net_addr addr;
	char *name;
	UT_hash_handle hh, by_name;
};

struct net_book {
	struct known *known;
	struct stand_in *stand_ins, *names;
	uint32_t next;
};

struct net_book *book_new(void)
{
	struct net_book *b = xcalloc(1, sizeof(*b));

	b->next = FIRST;
	return b;
}

static void drop_known(struct net_book *b, struct known *k)
{
	HASH_DEL(b->known, k);
	for (size_t i = 0; i < BOOK_NAMES; i++)
		free(k->names[i]);
	free(k);
}

static void drop_stand_in(struct net_book *b, struct stand_in *s)
{
	assert(b->names); /* both tables have the same entries */
	HASH_DEL(b->stand_ins, s);
	HASH_DELETE(by_name, b->names, s);
	free(s->name);
	free(s);
}

void book_free(struct net_book *b)
{
	if (!b)
		return;
	while (b->known)
		drop_known(b, b->known);
	while (b->stand_ins)
		drop_stand_in(b, b->stand_ins);
	free(b);
}

/* ---- names of addresses ---------------------------------------------------------------------- */

/* Moves a name to the front; a new one replaces the last. */
static void put_first(struct known *k, const char *name)
{
	char *first;
	size_t i = 0;

	while (i < BOOK_NAMES - 1 && k->names[i] && strcmp(k->names[i], name) != 0)
		i++;
	if (k->names[i] && strcmp(k->names[i], name) != 0) {
		free(k->names[i]);
		k->names[i] = NULL;
	}
	first = k->names[i] ? k->names[i] : xstrdup(name);
	memmove(&k->names[1], &k->names[0], i * sizeof(k->names[0]));
	k->names[0] = first;
}

void book_note(struct net_book *b, const char *name, const struct net_addr *addr)
{
	struct known *k;

	HASH_FIND(hh, b->known, addr, sizeof(*addr), k);
	if (!k) {
		if (HASH_COUNT(b->known) >= BOOK_ADDRS)
			drop_known(b, b->known); /* the oldest one */
		k = xcalloc(1, sizeof(*k));
		k->addr = *addr;
		HASH_ADD(hh, b->known, addr, sizeof(k->addr), k);
	}
	put_first(k, name);
}

const char *book_name(const struct net_book *b, const struct net_addr *addr, size_t i)
{
	const struct known *k;

	HASH_FIND(hh, b->known, addr, sizeof(*addr), k);
	return k && i < BOOK_NAMES ? k->names[i] : NULL;
}

/* ---- stand-ins ------------------------------------------------------------------------------- */

bool book_is_stand_in(const struct net_addr *addr)
{
	return net_addr_is_v4(addr) &&
	       (net_addr_as_v4(addr) ^ STAND_IN_NET) >> (32 - STAND_IN_BITS) == 0;
}

static struct net_addr next_address(struct net_book *b)
{
	struct net_addr a = net_addr_v4(STAND_IN_NET + b->next);

	b->next++;
	if (b->next >= 1u << (32 - STAND_IN_BITS))
		b->next = FIRST;
	return a;
}

struct net_addr book_stand_in(struct net_book *b, const char *name)
{
	struct stand_in *s;

	HASH_FIND(by_name, b->names, name, strlen(name), s);
	if (s)
		return s->addr;
	if (HASH_COUNT(b->stand_ins) >= BOOK_STANDINS)
		drop_stand_in(b, b->stand_ins);
	s = xcalloc(1, sizeof(*s));
	s->name = xstrdup(name);
	s->addr = next_address(b);
	HASH_ADD(hh, b->stand_ins, addr, sizeof(s->addr), s);
	HASH_ADD_KEYPTR(by_name, b->names, s->name, strlen(s->name), s);
	return s->addr;
}

const char *book_meant(const struct net_book *b, const struct net_addr *addr)
{
	const struct stand_in *s;

	HASH_FIND(hh, b->stand_ins, addr, sizeof(*addr), s);
	return s ? s->name : NULL;
}
