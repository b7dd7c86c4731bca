/* term - the agent's terminal pane around libvterm's screen. */
/* SPDX-License-Identifier: MIT */
#include "tui/term/inside.h"

#include <string.h>

#include "core/base/clock.h"

static int on_damage(VTermRect rect, void *user)
{
	struct term *t = user;

	(void)rect;
	t->dirty = true;
	return 1;
}

static int on_move_cursor(VTermPos pos, VTermPos old, int visible, void *user)
{
	struct term *t = user;

	(void)pos;
	(void)old;
	(void)visible;
	t->dirty = true;
	return 1;
}

static int on_prop(VTermProp prop, VTermValue *val, void *user)
{
	struct term *t = user;

	t->dirty = true;
	switch ((int)prop) {
	case VTERM_PROP_CURSORVISIBLE:
		t->cursor_visible = val->boolean;
		break;
	case VTERM_PROP_CURSORSHAPE:
		t->cursor_shape = val->number;
		break;
	case VTERM_PROP_ALTSCREEN:
		t->alt = val->boolean;
		break;
	case VTERM_PROP_REVERSE:
		t->reverse = val->boolean;
		break;
	case VTERM_PROP_MOUSE:
		t->mouse = val->number;
		break;
	default:
		break;
	}
	return 1;
}

static int on_push(int cols, const VTermScreenCell *cells, void *user)
{
	struct term *t = user;

	if (t->drop_push)
		t->drop_push--;
	else if (!t->resizing)
		term_push_line(t, cells_encode(t, cells, cols));
	return 1;
}

static const VTermScreenCallbacks screen_callbacks = {
	.damage = on_damage,
	.movecursor = on_move_cursor,
	.settermprop = on_prop,
	.sb_pushline = on_push,
};

struct term *term_new(int rows, int cols, const struct term_events *on, void *data)
{
	static const struct term_events nothing = {0};
	struct term *t = xcalloc(1, sizeof(*t));

	t->on = on ? on : &nothing;
	t->data = data;
	t->rows = MIN(MAX(rows, TERM_MIN), TERM_MAX);
	t->cols = MIN(MAX(cols, TERM_MIN), TERM_MAX);
	t->follow = t->dirty = true;
	t->glyphs = glyphs_new();
	t->writer = (struct line_writer)LINE_WRITER_INIT;
	t->sieve.clip = (struct buf)BUF_INIT;
	t->cells = xcalloc((size_t)t->cols, sizeof(*t->cells));
	scrollback_init(&t->history, TERM_SCROLLBACK_LINES);

	t->vt = vterm_new(t->rows, t->cols);
	vterm_set_utf8(t->vt, 1);
	vterm_output_set_callback(t->vt, respond_output, t);
	t->state = vterm_obtain_state(t->vt);
	t->screen = vterm_obtain_screen(t->vt);
	vterm_screen_set_callbacks(t->screen, &screen_callbacks, t);
	vterm_screen_set_damage_merge(t->screen, VTERM_DAMAGE_SCROLL);
	vterm_screen_enable_altscreen(t->screen, 1);
	vterm_screen_reset(t->screen, 1);
	/* Saves a cursor and a pen, in case they are restored before the agent saves any. */
	vterm_input_write(t->vt, "\0337", 2);
	return t;
}

void term_free(struct term *t)
{
	if (!t)
		return;
	vterm_free(t->vt);
	glyphs_free(t->glyphs);
	extras_done(&t->extras);
	scrollback_done(&t->history);
	line_writer_done(&t->writer);
	search_done(&t->search);
	snapshot_done(t);
	buf_done(&t->sieve.clip);
	free(t->cells);
	free(t->breaks);
	reflow_forget(t);
	free(t);
}

size_t term_feed_until(struct term *t, const void *bytes, size_t len, int64_t deadline)
{
	const char *p = bytes;
	size_t i = 0, slow = 0;

	t->replied = 0;
	t->bell = t->calls = false;
	t->anchor.valid = false;
	while (i < len) {
		size_t n = 0;

		if (!slow)
			n = bulk_feed(t, p + i, len - i, &slow);
		if (!n) {
			n = MIN(len - i, (size_t)SIEVE_STAGE);
			if (slow)
				n = MIN(n, slow);
			n = sieve_feed(t, p + i, n, deadline);
			slow -= MIN(n, slow);
		}
		i += n;
		if (clock_mono_us() >= deadline)
			break;
	}
	/* A return from the alternate screen may have set it. */
	t->anchor.valid = false;
	vterm_screen_flush_damage(t->screen);
	if (t->bell && t->on->bell)
		t->on->bell(t->data);
	if (t->calls && t->on->call)
		t->on->call(t->data);
	return i;
}

void term_feed(struct term *t, const void *bytes, size_t len)
{
	term_feed_until(t, bytes, len, INT64_MAX);
}

void term_resize(struct term *t, int rows, int cols)
{
	rows = MIN(MAX(rows, TERM_MIN), TERM_MAX);
	cols = MIN(MAX(cols, TERM_MIN), TERM_MAX);
	if (rows == t->rows && cols == t->cols)
		return;
	/* As xterm does; libvterm would keep margins outside the new screen. */
	sieve_reset_margins(t);
	sieve_flush(t);
	reflow_resize(t, rows, cols);
	vterm_screen_flush_damage(t->screen);
	snapshot_resized(t);
	t->sieve.last = 0;
	t->dirty = true;
	t->copy.col = MIN(t->copy.col, cols - 1);
	if (!t->copy.on)
		term_scroll(t, 0);
}

void term_size(const struct term *t, int *rows, int *cols)
{
	*rows = t->rows;
	*cols = t->cols;
}

bool term_dirty(const struct term *t)
{
	return t->dirty && (!t->held_until || clock_mono_us() >= t->held_until);
}

bool term_repainting(const struct term *t)
{
	return t->held_until != 0;
}

const char *term_title(const struct term *t)
{
	return t->title;
}

bool term_alt_screen(const struct term *t)
{
	return t->alt;
}

bool term_wants_mouse(const struct term *t)
{
	return t->mouse != VTERM_PROP_MOUSE_NONE;
}

void term_push_line(struct term *t, struct span line)
{
	t->first_line += scrollback_push(&t->history, line);
}

struct span term_row(struct term *t, int row)
{
	VTermPos pos = {.row = row};

	for (pos.col = 0; pos.col < t->cols; pos.col++)
		vterm_screen_get_cell(t->screen, pos, &t->cells[pos.col]);
	return cells_encode(t, t->cells, t->cols);
}
