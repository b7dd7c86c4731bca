/* cache - caches answers of nameservers for their time to live. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include <utlist.h>

#include "backends/linux/net/relay_priv.h"
#include "core/base/hash.h"

/*
 * The key is the whole query without its id: a query with other flags is sent anew. Each time the
 * keeper has decided before whether the agent may get the answer.
 */
#define ENTRIES_MAX 1024

struct cached {
	struct cached *prev, *next; /* the oldest first */
	UT_hash_handle hh;
	int64_t since, until;
	size_t query_len, len;
	uint8_t bytes[]; /* the query without its id, then the answer */
};

static void drop(struct relay *r, struct cached *c)
{
	assert(r->cached && r->cache_list); /* it is in both */
	HASH_DEL(r->cached, c);
	DL_DELETE(r->cache_list, c);
	free(c);
}

static struct cached *find(struct relay *r, const uint8_t *query, size_t len)
{
	struct cached *c;

	HASH_FIND(hh, r->cached, query + 2, len - 2, c);
	if (c && r->now >= c->until) {
		drop(r, c);
		return NULL;
	}
	return c;
}

size_t cache_find(struct relay *r, const uint8_t *query, size_t len, uint8_t out[CACHE_BYTES])
{
	const struct cached *c = len > DNS_HEADER ? find(r, query, len) : NULL;

	if (!c)
		return 0;
	memcpy(out, c->bytes + c->query_len, c->len);
	memcpy(out, query, 2); /* the id */
	dns_age(out, c->len, (uint32_t)((r->now - c->since) / 1000000));
	return c->len;
}

void cache_add(struct relay *r, const uint8_t *query, size_t query_len, const uint8_t *answer,
	       size_t len)
{
	uint32_t life = len > CACHE_BYTES || query_len <= DNS_HEADER ? 0 : dns_life(answer, len);
	struct cached *c;

	if (life == 0)
		return;
	c = find(r, query, query_len);
	if (c)
		drop(r, c);
	if (HASH_COUNT(r->cached) >= ENTRIES_MAX)
		drop(r, r->cache_list);
	c = xcalloc(1, sizeof(*c) + query_len - 2 + len);
	c->since = r->now;
	c->until = r->now + (int64_t)life * 1000000;
	c->query_len = query_len - 2;
	c->len = len;
	memcpy(c->bytes, query + 2, query_len - 2);
	memcpy(c->bytes + c->query_len, answer, len);
	HASH_ADD_KEYPTR(hh, r->cached, c->bytes, c->query_len, c);
	DL_APPEND(r->cache_list, c);
}
