/* proxy_named - compares the host in a tunnel's first bytes with the one that the agent may reach.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/proxy/proxy_priv.h"
#include "core/net/hello.h"

/*
 * Bytes are passed on even if the name is not complete yet: no client waits for this, whatever its
 * protocol. Only a name other than the tunnel's makes the client's bytes wait, for the keeper's
 * answer.
 */
struct proxy_named {
	unsigned n; /* names that may be reached */
	bool asked; /* the keeper judges the next one */
	bool over;  /* no further name can come */
	size_t len;
	struct buf held; /* bytes that wait */
	uint8_t data[HELLO_MAX];
};

void proxy_named_begin(struct client *c)
{
	if (!c->tunnel)
		return;			       /* its Host is http_forward()'s */
	c->named = xmalloc(sizeof(*c->named)); /* most of data is never used */
	memset(c->named, 0, offsetof(struct proxy_named, data));
	c->named->held = (struct buf)BUF_INIT;
}

void proxy_named_end(struct client *c)
{
	if (c->named)
		buf_done(&c->named->held);
	free(take_ptr(&c->named));
}

bool proxy_named_waits(const struct client *c)
{
	return c->named && c->named->asked;
}

/* Returns whether the bytes so far may be passed on. Else the keeper is asked. */
static bool judge(struct client *c)
{
	const struct net_host *own = &c->target.host;
	struct proxy_named *n = c->named;
	struct proxy_note note = {.what = PROXY_NAMED, .id = c->id};
	char name[NET_NAME_MAX + 1];
	enum hello got;

	while ((got = hello_name(n->data, n->len, n->n, name)) == HELLO_NAME) {
		if (own->is_addr || !str_eq(name, own->name)) {
			snprintf(note.name, sizeof(note.name), "%s", name);
			n->asked = true;
			proxy_tell(c->proxy, &note);
			return false;
		}
		n->n++;
	}
	n->over = got == HELLO_OVER;
	return true;
}

bool proxy_named_may_pass(struct client *c, const char *data, size_t len)
{
	struct proxy_named *n = c->named;
	size_t part;

	if (!n)
		return true;
	part = MIN(len, HELLO_MAX - n->len);
	memcpy(n->data + n->len, data, part);
	n->len += part;
	if (judge(c)) {
		if (n->over)
			proxy_named_end(c);
		return true;
	}
	buf_add(&n->held, data, len);
	proxy_side_stop(&c->in);
	return false;
}

void proxy_named_passed(struct client *c)
{
	AUTO_BUF struct buf held = BUF_INIT;

	if (!proxy_named_waits(c) || c->state != CLIENT_OPEN)
		return;
	c->named->asked = false;
	c->named->n++;
	if (!judge(c))
		return;
	held = c->named->held;
	c->named->held = (struct buf)BUF_INIT;
	if (c->named->over)
		proxy_named_end(c);
	c->refs++; /* a write may end it */
	c->in.bytes += held.len;
	if (proxy_side_write(&c->out, held.data, held.len) && !c->out.writes)
		proxy_side_read(&c->in);
	client_unref(c);
}
