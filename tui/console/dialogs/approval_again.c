/* approval_again - finds a wider answer for questions that are asked again and again. */
/* SPDX-License-Identifier: MIT */
#include "core/session/answers/answers.h"
#include "tui/console/dialogs/approval.h"

#define SINGLES_ENOUGH                                                                             \
	2 /* single allows in a directory, after which the next question offers all of it */

/* Returns the directory that a request is about, on the heap. */
static char *directory_of(const struct ask *ask)
{
	return answers_object(ask, &(struct answer){.extent = EXTENT_TREE});
}

static bool is_about(const struct single *single, const struct ask *ask, const char *dir)
{
	return single->kind == ask->kind && str_eq(single->dir, dir);
}

static void count_single(struct ui *ui, const struct ask *ask)
{
	AUTO_FREE char *dir = directory_of(ask);
	struct single *place = &ui->singles[ui->next_single % UI_SINGLES];

	for (size_t i = 0; i < UI_SINGLES; i++) {
		if (ui->singles[i].dir && is_about(&ui->singles[i], ask, dir)) {
			ui->singles[i].n++;
			return;
		}
	}
	ui->next_single++;
	free(place->dir);
	*place = (struct single){.kind = ask->kind, .n = 1, .dir = take_ptr(&dir)};
}

void approval_answered(struct ui *ui, const struct ask *ask, const struct answer *a)
{
	snprintf(ui->answered, sizeof(ui->answered), "%s", ask->path ? ask->path : "");
	snprintf(ui->answered_by, sizeof(ui->answered_by), "%s", ask->program ? ask->program : "");
	ui->answered_us = ui->now_us;
	if (a->allow && a->scope == SCOPE_ONCE && !ask->held && ask->kind < RULE_PLACES)
		count_single(ui, ask);
}

int approval_again_up(const struct ui *ui, const struct ask *ask)
{
	AUTO_FREE char *dir = NULL;
	int up = -1;

	if (ui->answered_us && str_eq(ask->program, ui->answered_by) &&
	    ask->since_us - ui->answered_us < ASK_TOGETHER_US)
		up = ask_up_to(ask, ui->answered);
	if (up >= 0 || ask->kind >= RULE_PLACES)
		return up;
	dir = directory_of(ask);
	for (size_t i = 0; i < UI_SINGLES; i++)
		if (ui->singles[i].dir && ui->singles[i].n >= SINGLES_ENOUGH &&
		    is_about(&ui->singles[i], ask, dir))
			return 0;
	return -1;
}
