/* session_pick - finds the running session that a command means. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/session_pick.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"

/* A stopped session elsewhere is not waited for if this folder's session answers. */
#define FIRST_WAIT_MS 300

struct choice {
	const struct session_pick *pick;
	struct link *link; /* the first match */
	size_t found;
	bool here; /* it is this directory's session */
	struct buf names, mute;
};

static void empty_link(struct link *l)
{
	*l = (struct link){.fd = -1, .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
}

static void look_at(struct choice *c, struct link *l)
{
	const struct session_pick *p = c->pick;
	bool here = p->here && path_is_beneath(p->here, link_field(l, "folder"));
	const char *folder = link_text(l, "folder");

	buf_fmt(&c->names, "%s%s (", c->found ? ", " : "", l->tag);
	text_escape(&c->names, folder, strlen(folder));
	buf_ch(&c->names, ')');
	if (c->found++ && (c->here || !here))
		return;
	c->here = here;
	link_done(c->link);
	*c->link = *l;
	empty_link(l);
}

static int look(struct choice *c, int wait_ms, struct err *err)
{
	CLEANUP(links_done) struct links all = {0};
	int r = links_open(&all, c->pick->wanted, wait_ms, err);

	link_done(c->link);
	empty_link(c->link);
	c->found = 0;
	c->here = false;
	buf_clear(&c->names);
	buf_clear(&c->mute);
	for (size_t i = 0; r == 0 && i < all.n; i++)
		if (!all.list[i].error)
			look_at(c, &all.list[i]);
		else
			link_is_mute(&all.list[i], &c->mute);
	return r;
}

int session_pick(const struct session_pick *p, struct link *ret, struct err *err)
{
	struct choice c = {.pick = p, .link = ret, .names = BUF_INIT, .mute = BUF_INIT};
	int r;

	empty_link(ret);
	r = look(&c, FIRST_WAIT_MS, err);
	if (r == 0 && c.mute.len && !c.here)
		r = look(&c, LINK_WAIT_S * 1000, err);
	if (r == 0 && !c.found && c.mute.len)
		r = err_say(err, -EAGAIN, "%s: %s", p->who, c.mute.data);
	else if (r == 0 && !c.found && p->wanted)
		r = err_say(err, -ESRCH, "%s %s: no such session runs: cordon sessions lists them",
			    p->who, p->wanted);
	else if (r == 0 && !c.found)
		r = err_say(err, -ESRCH, "%s: no session runs: start one with cordon run", p->who);
	else if (r == 0 && c.found > 1 && !c.here)
		r = err_say(err, -ESRCH, "%s: several sessions run: name one of %s", p->who,
			    c.names.data);
	buf_done(&c.names);
	buf_done(&c.mute);
	return r;
}
