/* book - the names that led to an address in this session, and addresses that stand for names. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/host.h"

/*
 * A connection names an address; rules and people speak of names. The book remembers what the
 * resolver inside was told, so the address that was checked is the one that is dialled.
 *
 * A name that no rule allows yet is not looked up at all: it would leave the machine. The agent is
 * told a stand-in, an address of 198.18.0.0/15 that leads nowhere; the connection to it is held and
 * asked about by name, and the real address is looked up once it was allowed.
 *
 * Life:    book_new() -> book_free().
 * Bounds:  BOOK_ADDRS addresses with BOOK_NAMES names each, BOOK_STANDINS stand-ins; the oldest go.
 * Threads: one owner.
 */
struct net_book;

#define BOOK_ADDRS    8192
#define BOOK_NAMES    8
#define BOOK_STANDINS 16384

struct net_book *book_new(void) MUST_USE;
void book_free(struct net_book *b); /* NULL is a no-op */

/* This name was resolved to this address; both folded. */
void book_note(struct net_book *b, const char *name, const struct net_addr *addr);
/* The i-th name of an address, the newest first; NULL: no more. Valid until the next note. */
const char *book_name(const struct net_book *b, const struct net_addr *addr, size_t i);

/* The stand-in of a name, always the same one as long as it is kept. */
struct net_addr book_stand_in(struct net_book *b, const char *name);
/* The name that this stand-in means; NULL: it is none. */
const char *book_meant(const struct net_book *b, const struct net_addr *addr);
/* Is it of the range that stand-ins are taken from? Such an address is never dialled. */
bool book_is_stand_in(const struct net_addr *addr);
