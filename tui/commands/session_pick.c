/* session_pick - finds the running session that a command means. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/session_pick.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"

struct choice {
	const struct session_pick *pick;
	struct link *link; /* the first that fits */
	size_t found;
	bool here; /* it is the one of this directory */
	struct buf names;
};

static void empty_link(struct link *l)
{
	*l = (struct link){.fd = -1, .in = (struct buf)BUF_INIT};
	audit_record_init(&l->record);
}

static int look_at(struct link *l, void *data, struct err *err)
{
	struct choice *c = data;
	const struct session_pick *p = c->pick;
	bool here = p->here && path_is_beneath(p->here, link_field(l, "folder"));
	const char *folder;

	(void)err;
	if (p->wanted && !str_eq(p->wanted, l->session) && !str_eq(p->wanted, l->tag))
		return 0;
	folder = link_text(l, "folder");
	buf_fmt(&c->names, "%s%s (", c->found ? ", " : "", l->tag);
	text_escape(&c->names, folder, strlen(folder));
	buf_ch(&c->names, ')');
	if (c->found++ && (c->here || !here))
		return 0;
	c->here = here;
	link_done(c->link);
	*c->link = *l;
	empty_link(l);
	return 0;
}

int session_pick(const struct session_pick *p, struct link *ret, struct err *err)
{
	AUTO_BUF struct buf mute = BUF_INIT;
	struct choice c = {.pick = p, .link = ret, .names = BUF_INIT};
	int r;

	empty_link(ret);
	r = link_each(look_at, &c, &mute, err);
	if (r >= 0 && !c.found && mute.len)
		r = err_say(err, -EAGAIN, "%s: %s", p->who, mute.data);
	else if (r >= 0 && !c.found && p->wanted)
		r = err_say(err, -ESRCH, "%s %s: no such session runs: try cordon %s", p->who,
			    p->wanted, p->who);
	else if (r >= 0 && !c.found)
		r = err_say(err, -ESRCH, "%s: no session runs: start one with cordon run", p->who);
	else if (r >= 0 && c.found > 1 && !c.here)
		r = err_say(err, -ESRCH, "%s: several sessions run: name one of %s", p->who,
			    c.names.data);
	buf_done(&c.names);
	return MIN(r, 0);
}
