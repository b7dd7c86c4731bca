/* journal - `cordon journal verify` and `dump`: checks and prints the undo store. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/json.h"
#include "core/journal/journal.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct journal_flags {
	bool json;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct journal_flags, json), "dump: one JSON object a line"},
};

static const struct usage usage = {
	"journal verify | journal dump [STEP] [--json]",
	"verify reads every record, object, summary and image of this folder's undo store, names "
	"each that is damaged, and exits 1 if there is one. dump lists the records of a step, or "
	"of all steps; undo performs them backwards.",
	flags,
	ARRAY_LEN(flags),
};

/* ---- verify -----------------------------------------------------------------------------------
 */

static void print_damage(void *data, const char *words)
{
	(void)data;
	printf("%sdamaged%s: %s\n", style_on(STYLE_RED), style_off(), words);
}

static int verify(struct journal *j, const struct here *p, struct err *err)
{
	struct journal_sound sound;
	int r = journal_verify(j, print_damage, NULL, &sound, err);

	if (r == 0)
		printf("The undo store of %s is sound: %zu step%s, %zu record%s, %zu object%s.\n",
		       p->folder, sound.steps, sound.steps == 1 ? "" : "s", sound.records,
		       sound.records == 1 ? "" : "s", sound.objects, sound.objects == 1 ? "" : "s");
	return r;
}

/* ---- dump -------------------------------------------------------------------------------------
 */

static void print_row(const struct journal_record *r)
{
	printf("%" PRId64 " %s %s %" PRIu64 " %s", r->step, r->where, r->log, r->seq, r->type);
	if (r->src)
		printf(" answers=%" PRIu64, r->src);
	if (r->slot)
		printf(" slot=%" PRIx64, r->slot);
	if (r->ino)
		printf(" ino=%" PRIu64, r->ino);
	if (r->ino2)
		printf(" ino2=%" PRIu64, r->ino2);
	if (r->kept.len)
		printf(" kept=%zu", r->kept.len);
	printf("%s%s%s%s", r->linked ? " linked" : "", r->swapped ? " swapped" : "",
	       r->directory ? " directory" : "", r->in_log ? " in-log" : "");
	if (*r->path || *r->path2) {
		printf(r->root ? " %d:" : " ", r->root);
		show_text(r->path, strlen(r->path));
	}
	if (*r->path2) {
		printf(r->root2 ? " -> %d:" : " -> ", r->root2);
		show_text(r->path2, strlen(r->path2));
	}
	putchar('\n');
}

static void print_json(const struct journal_record *r)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b,
		"{\"step\":%" PRId64 ",\"where\":\"%s\",\"log\":\"%s\",\"seq\":%" PRIu64
		",\"type\":\"%s\",\"answers\":%" PRIu64 ",\"slot\":%" PRIu64 ",\"ino\":%" PRIu64
		",\"ino2\":%" PRIu64 ",\"kept\":%zu,\"linked\":%s,\"swapped\":%s,\"directory\":%s"
		",\"in_log\":%s,\"root\":%d",
		r->step, r->where, r->log, r->seq, r->type, r->src, r->slot, r->ino, r->ino2,
		r->kept.len, r->linked ? "true" : "false", r->swapped ? "true" : "false",
		r->directory ? "true" : "false", r->in_log ? "true" : "false", r->root);
	json_member(&b, "path", r->path);
	buf_fmt(&b, ",\"root2\":%d", r->root2);
	json_member(&b, "path2", r->path2);
	printf("%s}\n", b.data);
}

static void print_record(void *data, const struct journal_record *r)
{
	const bool *json = data;

	if (*json)
		print_json(r);
	else
		print_row(r);
}

static int dump(struct journal *j, const char *step, bool json, struct err *err)
{
	char *end = NULL;
	long long id = 0;

	if (step) {
		errno = 0;
		id = strtoll(step, &end, 10);
		if (errno || end == step || *end || !id)
			return err_say(err, -EINVAL, "'%s': no step: give its number", step);
	}
	return journal_dump(j, id, print_record, &json, err);
}

/* ---- the command ------------------------------------------------------------------------------
 */

static int check_words(const struct strings *w, struct err *err)
{
	size_t most = 0;

	if (w->n && str_eq(w->list[0], "verify"))
		most = 1;
	else if (w->n && str_eq(w->list[0], "dump"))
		most = 2;
	if (w->n == 0 || w->n > most)
		return err_say(err, -EINVAL, "journal: usage: cordon %s", usage.synopsis);
	return 0;
}

static int run(const struct here *p, const struct strings *w, bool json, struct err *err)
{
	struct journal *j = NULL;
	int r = here_open(p, NULL, &j, err);

	if (r < 0)
		return r;
	if (str_eq(w->list[0], "verify"))
		r = verify(j, p, err);
	else
		r = dump(j, w->n > 1 ? w->list[1] : NULL, json, err);
	journal_close(j);
	return r;
}

int cmd_journal(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct journal_flags o = {0};
	AUTO_STRINGS struct strings words = {0};
	int r = flags_parse(&usage, argc, argv, &o, &words, err);

	if (r == 0)
		r = check_words(&words, err);
	if (r == 0)
		r = here_find(&p, err);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	r = run(&p, &words, o.json, err);
	if (r == -EINVAL)
		return CMD_FAILED;
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
