/* stores - `cordon stores`: lists each folder's history with its size, and removes histories. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/session/folders.h"
#include "core/session/kept.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"

struct options {
	bool json, prune, dry, yes;
	const char *older_than;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct options, json),
	 "one object a line: folder, label, gone, steps, used_us, bytes, and of these "
	 "history_bytes, audit_bytes, cache_bytes, disk_bytes, notes_bytes"},
	{"--prune", NULL, offsetof(struct options, prune),
	 "remove history, audit log, cache and guest disk of folders that are gone"},
	{"--older-than", "DAYS", offsetof(struct options, older_than),
	 "with --prune: only folders that were last used more than DAYS ago; with this option also "
	 "those on other file systems, which may only be unmounted"},
	{"--dry-run", NULL, offsetof(struct options, dry), "with --prune: only list them"},
	{"--yes", NULL, offsetof(struct options, yes), "with --prune: do not ask"},
};

static const struct usage usage = {
	"stores [--json] [--prune [--older-than DAYS] [--dry-run] [--yes]]",
	"List the folders that cordon has worked in, the last used first, with the disk space of "
	"each: undo history, audit log, the tools' cache, the disk of a virtual machine.",
	flags,
	ARRAY_LEN(flags),
};

#define DAY_US ((int64_t)86400 * 1000000)

static const char *const part_names[KEPT_PARTS] = {
	[KEPT_HISTORY] = "history", [KEPT_AUDIT] = "audit", [KEPT_CACHE] = "cache",
	[KEPT_DISK] = "disk",	    [KEPT_NOTES] = "notes",
};

/* ---- list -------------------------------------------------------------------------------------
 */

static void print_json(const struct kept *k)
{
	AUTO_BUF struct buf out = BUF_INIT;

	buf_ch(&out, '{');
	json_member(&out, "folder", k->folder);
	json_member(&out, "label", k->label);
	buf_fmt(&out, ",\"gone\":%s,\"steps\":%zu,\"used_us\":%" PRId64 ",\"bytes\":%" PRIu64,
		k->gone ? "true" : "false", k->steps, k->used_us, kept_bytes(k));
	for (size_t i = 0; i < KEPT_PARTS; i++)
		buf_fmt(&out, ",\"%s_bytes\":%" PRIu64, part_names[i], k->bytes[i]);
	buf_ch(&out, '}');
	puts(out.data);
}

static void print_row(const struct kept *k)
{
	char size[32], when[32] = "-";

	text_size(size, sizeof(size), kept_bytes(k));
	if (k->used_us)
		show_time(when, sizeof(when), k->used_us);
	printf("%9s  %-12s  %5zu  ", size, when, k->steps);
	show_folder(k->folder ? k->folder : k->label);
	if (!k->folder)
		printf(" %s(of an unknown folder)%s", style_on(STYLE_DIM), style_off());
	else if (k->gone)
		printf(" %s(%s)%s", style_on(STYLE_YELLOW),
		       k->beside ? "folder is gone, or not mounted" : "folder is gone",
		       style_off());
	putchar('\n');
}

static void print_sums(const struct kept *list, size_t n, const char *state_dir)
{
	uint64_t sums[KEPT_PARTS] = {0}, inside = 0, beside = 0, all = kept_all_bytes(state_dir);
	const char *before = ":";
	char size[32];

	for (size_t i = 0; i < n; i++)
		for (size_t part = 0; part < KEPT_PARTS; part++) {
			bool here = part != KEPT_HISTORY || !list[i].beside;

			sums[part] += here ? list[i].bytes[part] : 0;
			inside += here ? list[i].bytes[part] : 0;
			beside += here ? 0 : list[i].bytes[part];
		}
	text_size(size, sizeof(size), all);
	show_folder(state_dir);
	printf(" holds %s", size);
	for (size_t part = 0; part < KEPT_NOTES; part++)
		if (sums[part]) {
			text_size(size, sizeof(size), sums[part]);
			printf("%s %s %s", before, part_names[part], size);
			before = ",";
		}
	text_size(size, sizeof(size), all - MIN(all, inside));
	printf("%s recordings and the rest %s", before, size);
	text_size(size, sizeof(size), beside);
	if (beside)
		printf("; folders on other disks hold histories of %s", size);
	putchar('\n');
}

static void print_all(const struct kept *list, size_t n, const struct options *o,
		      const char *state_dir)
{
	if (!n && !o->json)
		puts("cordon keeps nothing yet.");
	else if (!o->json)
		printf("%s%9s  %-12s  %5s  FOLDER%s\n", style_on(STYLE_DIM), "SIZE", "LAST USED",
		       "STEPS", style_off());
	for (size_t i = n; i-- > 0;)
		if (o->json)
			print_json(&list[i]);
		else
			print_row(&list[i]);
	if (n && !o->json)
		print_sums(list, n, state_dir);
}

/* ---- prune ------------------------------------------------------------------------------------
 */

/* Moves removable histories to the front. Returns their number. */
static size_t choose(struct kept *list, size_t n, bool aged, int64_t before_us)
{
	size_t chosen = 0;

	for (size_t i = 0; i < n; i++) {
		struct kept one = list[i];

		if (!one.gone || (one.beside && !aged) || one.used_us >= before_us)
			continue;
		list[i] = list[chosen];
		list[chosen++] = one;
	}
	return chosen;
}

static int ask(const struct kept *list, size_t n, const struct options *o, struct err *err)
{
	uint64_t sum = 0;
	size_t steps = 0;
	char size[32];

	for (size_t i = 0; i < n; i++) {
		print_row(&list[i]);
		sum += kept_bytes(&list[i]);
		steps += list[i].steps;
	}
	text_size(size, sizeof(size), sum);
	printf("%zu folder%s: %s, %zu step%s: they cannot be brought back; a folder that was "
	       "renamed takes its history over with `cordon log --adopt`\n",
	       n, n == 1 ? "" : "s", size, steps, steps == 1 ? "" : "s");
	return o->yes || o->dry ? 0 : confirm_yes("Remove this?", err);
}

/* Removes each; one in use does not prevent the others. */
static int remove_each(const struct kept *list, size_t n, const char *state_dir, struct err *err)
{
	int first = 0;

	for (size_t i = 0; i < n; i++) {
		struct err why = {0};
		int r = kept_remove(state_dir, &list[i], &why);

		if (r < 0 && first == 0) {
			first = r;
			*err = why;
		}
	}
	if (first == 0)
		puts("Removed.");
	return first;
}

static int prune(struct kept *list, size_t n, const struct options *o, const char *state_dir,
		 struct err *err)
{
	int64_t days = 0;
	size_t chosen;
	int r = 0;

	if (o->older_than && (!config_parse_int(o->older_than, &days) || days > 1000000))
		return err_say(err, -EINVAL,
			       "--older-than: '%s' is no count: give a number of days",
			       o->older_than);
	chosen = choose(list, n, o->older_than != NULL, clock_wall_us() - days * DAY_US);
	if (!chosen) {
		puts("There is nothing to remove.");
		return 0;
	}
	r = ask(list, chosen, o, err);
	return r < 0 || o->dry ? r : remove_each(list, chosen, state_dir, err);
}

static int run(const struct options *o, struct err *err)
{
	AUTO_FREE char *home = NULL, *state = NULL;
	struct kept *list = NULL;
	size_t n = 0;
	int r = folders_home(&home, err);

	if (r < 0)
		return r;
	state = folders_state_dir(home);
	r = kept_list(&list, &n, state, true, err);
	if (r == 0 && o->prune)
		r = prune(list, n, o, state, err);
	else if (r == 0)
		print_all(list, n, o, state);
	kept_free(list, n);
	return r;
}

static int check(const struct options *o, struct err *err)
{
	if (!o->prune && (o->older_than || o->dry || o->yes))
		return err_say(err, -EINVAL,
			       "stores: --older-than, --dry-run and --yes belong to --prune");
	return 0;
}

int cmd_stores(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r == 0)
		r = check(&o, err);
	if (r != 0)
		return r > 0 ? 0 : CMD_FAILED;
	r = run(&o, err);
	if (r == -EINVAL)
		return CMD_FAILED;
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
