/* view_connections - the agent's connections: program, host, rule, bytes, time. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/frame/ui.h"

#define HOSTS  4  /* most lines for hosts opened by profiles */
#define DENIED 8  /* most denied hosts by name */
#define NARROW 66 /* columns; narrower: no program, and the sum of both directions */
#define WIDE   92 /* columns; from here on: with address and rule */

enum order {
	BY_TIME, /* newest first */
	BY_HOST,
	BY_BYTES,
	ORDERS,
};

struct view_connections {
	struct view v;
	struct list list;
	enum order order;
	const struct connection **rows; /* filtered and sorted; valid until the next fill */
	size_t n;
};

static const enum action hints[] = {ACTION_SORT,   ACTION_CLOSE_CONNECTION,
				    ACTION_FORBID, ACTION_FILTER,
				    ACTION_BACK,   ACTION_NONE};

static uint64_t bytes(const struct connection *c)
{
	return c->sent + c->received;
}

static int by_time(const void *a, const void *b)
{
	const struct connection *x = *(const struct connection *const *)a;
	const struct connection *y = *(const struct connection *const *)b;

	if (x->began_us != y->began_us)
		return (x->began_us < y->began_us) - (x->began_us > y->began_us);
	return (x->id < y->id) - (x->id > y->id);
}

static int by_host(const void *a, const void *b)
{
	const struct connection *x = *(const struct connection *const *)a;
	const struct connection *y = *(const struct connection *const *)b;
	int r = strcmp(x->target, y->target);

	return r ? r : by_time(a, b);
}

static int by_bytes(const void *a, const void *b)
{
	const struct connection *x = *(const struct connection *const *)a;
	const struct connection *y = *(const struct connection *const *)b;

	return bytes(x) == bytes(y) ? by_time(a, b) : (bytes(x) < bytes(y)) - (bytes(x) > bytes(y));
}

static void add_text(const struct connection *c, struct buf *out)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b, "%s %s %d %s %s %s", c->ended_us ? "closed" : "open", c->program, c->pid,
		c->target, c->addr, c->why);
	text_escape(out, b.data, b.len);
}

static void fill(struct view_connections *p)
{
	static int (*const orders[ORDERS])(const void *a, const void *b) = {by_time, by_host,
									    by_bytes};
	const struct model *m = p->v.ui->spec.model;

	p->rows = xrealloc(p->rows, (m->n_connections + 1) * sizeof(struct connection *));
	p->n = 0;
	for (size_t i = 0; i < m->n_connections; i++) {
		AUTO_BUF struct buf text = BUF_INIT;

		add_text(&m->connections[i], &text);
		if (list_match(p->list.filter, text.data))
			p->rows[p->n++] = &m->connections[i];
	}
	qsort(p->rows, p->n, sizeof(struct connection *), orders[p->order]);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void age(const struct view_connections *p, const struct connection *c, char out[16])
{
	int64_t end = c->ended_us ? c->ended_us : p->v.ui->now_us;
	long long s = MAX((end - c->began_us) / 1000000, (int64_t)0);

	if (s < 3600)
		snprintf(out, 16, "%lld:%02lld", s / 60 % 60, s % 60);
	else
		snprintf(out, 16, "%lldh%02lld", MIN(s / 3600, 999LL), s / 60 % 60);
}

/* Draws host, total bytes, age. */
static void draw_narrow(const struct view_connections *p, struct surface *s, struct rect line,
			const struct connection *c)
{
	int role = c->ended_us ? ROLE_DIM : ROLE_TEXT, end = line.x + line.w;
	char sum[16], time[16];

	text_size(sum, sizeof(sum), bytes(c));
	age(p, c, time);
	surface_text(s, line.x + 1, line.y, 1, ROLE_EVENT_ALLOW, c->ended_us ? " " : "+");
	surface_hostile_end(s, line.x + 3, line.y, line.w - 22, role, c->target);
	surface_fmt(s, end - 18, line.y, 18, role, "%10s %7s", sum, time);
}

static void draw_row(void *data, struct surface *s, struct rect line, size_t i)
{
	const struct view_connections *p = data;
	const struct connection *c = p->rows[i];
	int role = c->ended_us ? ROLE_DIM : ROLE_TEXT, x = line.x + 1, end = line.x + line.w;
	char sent[16], received[16], time[16];
	bool wide = line.w >= WIDE;
	int host;

	if (line.w < NARROW) {
		draw_narrow(p, s, line, c);
		return;
	}
	text_size(sent, sizeof(sent), c->sent);
	text_size(received, sizeof(received), c->received);
	age(p, c, time);
	surface_text(s, x, line.y, 6, c->ended_us ? ROLE_DIM : ROLE_EVENT_ALLOW,
		     c->ended_us ? "closed" : "+ open");
	x += 7;
	surface_hostile(s, x, line.y, 12, role, c->program);
	x += 13;
	host = wide ? (end - x - 32) / 2 : end - x - 32;
	surface_hostile_end(s, x, line.y, host, role, c->target);
	if (wide)
		surface_hostile_end(s, x + host + 1, line.y, host - 1, ROLE_DIM, c->why);
	surface_fmt(s, end - 31, line.y, 31, role, "%10s %10s %8s", sent, received, time);
}

static bool is_denied_host(const struct row *r)
{
	return ((r->kind == ROW_DECISION && r->result < 0) || r->kind == ROW_DENY) && r->op &&
	       str_eq(r->op, "connect") && r->text && *r->text;
}

/* Appends "denied: evil.example:443, 192.0.2.7:80": each once, the newest first. */
static void add_denied(const struct model *m, struct buf *out)
{
	const char *seen[DENIED];
	size_t n = 0, k;

	for (size_t i = m->row_count; i > 0 && n < DENIED; i--) {
		const struct row *r = model_row(m, i - 1);

		if (!is_denied_host(r))
			continue;
		for (k = 0; k < n && !str_eq(seen[k], r->text); k++)
			;
		if (k < n)
			continue;
		buf_str(out, n ? ", " : "denied: ");
		text_escape(out, r->text, strlen(r->text));
		seen[n++] = r->text;
	}
}

/* Draws the hosts that were denied or are free, above the last line. Returns the number of
 * lines. */
static int draw_hosts(const struct view_connections *p, struct surface *s, struct rect in)
{
	const char *hosts = p->v.ui->spec.model->hosts, *next;
	AUTO_BUF struct buf b = BUF_INIT;
	int n = 0, y;

	add_denied(p->v.ui->spec.model, &b);
	if (hosts) {
		buf_str(&b, b.len ? "; allowed by profiles: " : "allowed by profiles: ");
		text_escape(&b, hosts, strlen(hosts));
	}
	if (!b.len || in.h < 2 * HOSTS)
		return 0;
	for (const char *at = b.data; *at && n < HOSTS; at = next, n++)
		ui_fitting(at, in.w, &next);
	y = in.y + in.h - 1 - n;
	for (const char *at = b.data; *at && y < in.y + in.h - 1; at = next, y++) {
		AUTO_FREE char *line = xstrndup(at, ui_fitting(at, in.w, &next));

		surface_text(s, in.x, y, in.w, ROLE_MODAL_LABEL, line);
	}
	return n;
}

static struct rect size(struct view *v, struct rect body)
{
	const struct model *m = v->ui->spec.model;
	int w = MIN(body.w, 120);
	int h = MIN(body.h,
		    MAX((int)MIN(m->n_connections, (size_t)20) + 6, 10) + (m->hosts ? HOSTS : 0));

	return (struct rect){body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h};
}

/* Draws what has no room in the row under the cursor. */
static void draw_end(const struct view_connections *p, struct surface *s, int x, int y, int w)
{
	AUTO_BUF struct buf b = BUF_INIT;
	const struct connection *c;

	if (p->list.cursor >= p->n)
		return;
	c = p->rows[p->list.cursor];
	buf_fmt(&b, "pid %d, %s: %s", c->pid, c->addr, c->why);
	surface_hostile(s, x, y, w, ROLE_TEXT, b.data);
}

static void draw_head(const struct view_connections *p, struct surface *s, struct rect in)
{
	static const char *const orders[ORDERS] = {"newest first", "by host", "by bytes"};

	surface_text(s, in.x, in.y, in.w < NARROW ? in.w : in.w - 32, ROLE_MODAL_LABEL,
		     orders[p->order]);
	if (in.w < NARROW)
		return;
	surface_fmt(s, in.x + in.w - 31, in.y, 31, ROLE_MODAL_LABEL, "%10s %10s %8s", "sent",
		    "received", "for");
}

static void draw(struct view *v, struct surface *s, struct rect r, bool focused)
{
	struct view_connections *p = (struct view_connections *)v;
	struct rect in = ui_modal(s, r, "connections", false), list = in;

	fill(p);
	draw_head(p, s, in);
	list.y++;
	list.h = MAX(in.h - 2 - draw_hosts(p, s, in), 1);
	list_draw(&p->list, s, list, focused, p->n,
		  *p->list.filter ? "No connection has these words."
				  : "The agent has connected to nothing yet.",
		  draw_row, p);
	draw_end(p, s, in.x, in.y + in.h - 1, in.w);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void text_of(void *data, size_t i, struct buf *out)
{
	const struct view_connections *p = data;

	if (i < p->n)
		add_text(p->rows[i], out);
}

static void disconnect(struct view_connections *p, bool forbid)
{
	struct ui *ui = p->v.ui;
	const struct connection *c = p->list.cursor < p->n ? p->rows[p->list.cursor] : NULL;
	AUTO_BUF struct buf host = BUF_INIT;

	if (!c)
		return;
	text_escape(&host, c->target, strlen(c->target));
	if (!ui->spec.verbs->disconnect) {
		ui_say(ui, "In the session's own console only.");
		return;
	}
	if (c->ended_us && !forbid) {
		ui_say(ui, "It is closed already.");
		return;
	}
	ui->spec.verbs->disconnect(ui->spec.data, c->id, forbid);
	ui_say(ui, forbid ? "x Closed, and denied for this session: %s." : "Closed: %s.",
	       host.data);
}

static bool act(struct view *v, enum action a)
{
	struct view_connections *p = (struct view_connections *)v;

	fill(p);
	if (list_keys(&p->list, v->ui, a, p->n, text_of, p))
		return true;
	switch ((int)a) {
	case ACTION_SORT:
		p->order = (p->order + 1) % ORDERS;
		return true;
	case ACTION_CLOSE_CONNECTION:
	case ACTION_FORBID:
		disconnect(p, a == ACTION_FORBID);
		return true;
	case ACTION_BACK:
		if (*p->list.filter)
			p->list.filter[0] = '\0';
		else
			ui_pop(v->ui);
		return true;
	default:
		return a == ACTION_SHOW_CONNECTIONS;
	}
}

static void query(struct view *v, enum query what, const char *text)
{
	struct view_connections *p = (struct view_connections *)v;

	if (what == QUERY_FILTER) {
		snprintf(p->list.filter, sizeof(p->list.filter), "%s", text);
		return;
	}
	fill(p);
	if (!list_search(&p->list, text, p->n, text_of, p))
		ui_say(v->ui, "No connection has '%s'.", text);
}

static void mouse(struct view *v, const struct mouse *m, struct rect r)
{
	struct view_connections *p = (struct view_connections *)v;

	(void)r;
	list_mouse(&p->list, m, p->list.at, p->n);
}

static void view_free(struct view *v)
{
	struct view_connections *p = (struct view_connections *)v;

	free(p->rows);
	free(v);
}

static const struct view_ops ops = {
	.place = PLACE_CONNECTIONS,
	.size = size,
	.draw = draw,
	.act = act,
	.query = query,
	.does = DOES_MOVE,
	.mouse = mouse,
	.free = view_free,
	.hints = hints,
};

struct view *view_connections_new(struct ui *ui)
{
	struct view_connections *p = xcalloc(1, sizeof(*p));

	p->v = (struct view){.ops = &ops, .ui = ui};
	return &p->v;
}
