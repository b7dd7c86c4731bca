/* book - the names of this session's addresses, and stand-in addresses for names. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/host.h"

/*
 * A connection has an address; rules and questions have names. The book remembers the answers of
 * the resolver inside, so the address that was checked is the one that is dialled.
 *
 * A name that no rule allows yet is not resolved at all: the query would leave the machine. The
 * agent gets a stand-in, an unused address of 198.18.0.0/15. A connection to it is held, the user
 * is asked about the name, and the real address is resolved once it was allowed.
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

/* Records that this name was resolved to this address; both are folded. */
void book_note(struct net_book *b, const char *name, const struct net_addr *addr);
/* Returns the i-th name of an address, the newest first; NULL: there are no more. Valid until the
 * next book_note(). */
const char *book_name(const struct net_book *b, const struct net_addr *addr, size_t i);

/* Returns the stand-in of a name; it stays the same while it is kept. */
struct net_addr book_stand_in(struct net_book *b, const char *name);
/* Returns the name of a stand-in; NULL: the address is not one. */
const char *book_meant(const struct net_book *b, const struct net_addr *addr);
/* Returns whether the address is in the range of stand-ins, which are never dialled. */
bool book_is_stand_in(const struct net_addr *addr);
