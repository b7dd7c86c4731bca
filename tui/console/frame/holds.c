/* holds - the actions that have an effect in a view: for its help, the palette and the hints. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/frame/ui.h"

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
		return action_is_general(a) ||
		       (ui->spec.replay && keymap_binds(ui->spec.keymap, PLACE_REPLAY, a));
	}
}
