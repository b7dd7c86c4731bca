/* named - compares the host in a connection's first bytes with the one that the agent may reach. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "backends/linux/net/relay_priv.h"
#include "core/net/hello.h"

/*
 * The agent's bytes are looked at in its socket's queue, copied, and then passed on as always, even
 * if the name is not complete yet: no client waits for this, whatever its protocol. Only a name
 * other than the connection's makes them wait, for the keeper's answer. The other direction never
 * waits.
 */
struct named {
	struct relay *relay;
	uint64_t id;
	char own[NET_NAME_MAX + 3]; /* the connection's host */
	unsigned n;		    /* names that may be reached */
	bool asked;		    /* the keeper judges the next one */
	bool urgent;		    /* it judges bytes out of band, which have no number */
	size_t len, fresh;	    /* bytes in data; the fresh last ones are still in the queue */
	uint8_t data[HELLO_MAX];
};

struct named *named_new(struct relay *r, const struct net_note *dial)
{
	struct named *n;

	if (!dial->type)
		return NULL;
	n = xmalloc(sizeof(*n)); /* most of data is never used */
	memset(n, 0, offsetof(struct named, data));
	n->relay = r;
	n->id = dial->id;
	snprintf(n->own, sizeof(n->own), "%s", dial->name);
	return n;
}

/* Returns whether the queue has a byte out of band. The host may read the bytes with or without
 * it, so they have no certain meaning. */
static bool is_urgent(int from)
{
	char byte;

	return recv(from, &byte, 1, MSG_OOB | MSG_PEEK | MSG_DONTWAIT) >= 0 || errno == EAGAIN;
}

static void ask(struct named *n, const char *name)
{
	struct net_note note = {.what = NET_NAMED, .id = n->id};

	snprintf(note.name, sizeof(note.name), "%s", name);
	relay_tell(n->relay, &note);
	n->asked = true;
}

/* Acts on the names in the bytes so far. Returns whether the fresh ones may be passed on. */
static bool judge(struct named *n, bool *ret_over)
{
	char name[NET_NAME_MAX + 1];
	enum hello got;

	while ((got = hello_name(n->data, n->len, n->n, name)) == HELLO_NAME) {
		if (!str_eq(name, n->own)) {
			ask(n, name);
			return false;
		}
		n->n++;
	}
	*ret_over = got == HELLO_OVER;
	return true;
}

size_t named_look(struct named *n, int from)
{
	bool over = false;
	ssize_t got;

	if (n->asked || n->fresh)
		return n->asked ? 0 : n->fresh;
	got = recv(from, n->data + n->len, HELLO_MAX - n->len, MSG_PEEK | MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (got <= 0) /* the end, or an error, which the next call gets, too */
		return NAMED_OVER;
	n->len += (size_t)got;
	n->fresh = (size_t)got;
	if (is_urgent(from)) {
		ask(n, HELLO_UNREADABLE);
		n->urgent = true;
		return 0;
	}
	if (!judge(n, &over))
		return 0;
	return over ? NAMED_OVER : n->fresh;
}

void named_took(struct named *n, size_t bytes)
{
	n->fresh -= MIN(bytes, n->fresh);
}

bool named_passed(struct named *n)
{
	bool over = false;

	n->n += !n->urgent;
	n->asked = n->urgent = false;
	(void)judge(n, &over);
	return over;
}
