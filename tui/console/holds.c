/* holds - which actions mean something in a view: for its help, the palette and the hints. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/ui.h"

/* Everywhere, whatever has the keys: what ui_global() does. */
bool ui_is_general(enum action a)
{
	static const enum action list[] = {
		ACTION_HELP,	       ACTION_PALETTE,
		ACTION_QUIT,	       ACTION_SUSPEND,
		ACTION_REDRAW,	       ACTION_ZOOM,
		ACTION_LAYOUT,	       ACTION_HIDE,
		ACTION_BORDER_LEFT,    ACTION_BORDER_RIGHT,
		ACTION_BORDER_UP,      ACTION_BORDER_DOWN,
		ACTION_FOCUS_NEXT,     ACTION_FOCUS_PREV,
		ACTION_FOCUS_TERMINAL, ACTION_FOCUS_AUDIT,
		ACTION_FOCUS_STEPS,    ACTION_FOCUS_APPROVALS,
		ACTION_SHOW_RULES,     ACTION_SHOW_CONNECTIONS,
		ACTION_SCROLL,	       ACTION_UNDO,
		ACTION_REDO,	       ACTION_DIFF_SESSION,
		ACTION_SHOW_THEMES,    ACTION_SHOW_RESOURCES,
		ACTION_SHOW_LOG,       ACTION_SHOW_SESSIONS,
		ACTION_RESTART,	       ACTION_PASTE_NOTE,
		ACTION_DIFF_TURN,      ACTION_DIFF_MARK,
		ACTION_BACK,
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (list[i] == a)
			return true;
	return false;
}

bool ui_holds(const struct ui *ui, const struct view *v, enum action a)
{
	const struct view_ops *ops = v->ops;
	unsigned does = ops->does;

	if (keymap_binds(ui->spec.keymap, ops->place, a))
		return true;
	if (does & DOES_ALONE)
		return a == ACTION_HELP || a == ACTION_REDRAW || a == ACTION_SUSPEND;
	switch ((int)a) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
		return does & DOES_MOVE;
	case ACTION_TOP:
	case ACTION_BOTTOM:
		return does & (DOES_MOVE | DOES_ENDS);
	case ACTION_LEFT:
	case ACTION_RIGHT:
		return does & DOES_SIDEWAYS;
	case ACTION_OPEN:
		return does & DOES_OPEN;
	case ACTION_SEARCH:
	case ACTION_SEARCH_NEXT:
	case ACTION_SEARCH_PREV:
		return ops->query != NULL;
	case ACTION_FILTER:
		return ops->query && ops->filters;
	default:
		return ui_is_general(a) ||
		       (ui->spec.replay && keymap_binds(ui->spec.keymap, PLACE_REPLAY, a));
	}
}
