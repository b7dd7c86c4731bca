/* kept_prune - removes old history (journal.total-size), and data of sessions that ran nothing. */
/* SPDX-License-Identifier: MIT */
#include "core/session/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/journal.h"
#include "core/session/folders.h"

#define LOG_MAX_BYTES 65536

/* Removes the oldest steps until `bytes` are free, or none is left. Returns the number of freed
 * bytes. */
static uint64_t let_steps_go(const char *state_dir, const struct kept *k, uint64_t holds,
			     uint64_t bytes)
{
	const struct journal_spec spec = {
		.folder = k->folder, .state_dir = state_dir, .upkeep = true};
	struct journal_prune what = {.size = holds > bytes ? holds - bytes : 1, .note = true};
	AUTO_FREE char *store = path_join(state_dir, k->label);
	struct err why = {0};
	struct journal *j = NULL;
	int r = journal_open(&j, &spec, NULL, &why);

	if (r == 0 && (r = journal_prune(j, &what)) < 0)
		err_set(&why, r, "prune");
	journal_close(j);
	if (r < 0 && r != -EBUSY)
		log_warn("kept", "history of '%s' stays: %s", k->folder, why.text);
	else if (what.n)
		log_info("kept", "%zu steps of '%s' went: journal.total-size", what.n, k->folder);
	return holds - MIN(holds, journal_store_bytes(store));
}

static uint64_t let_go(const char *state_dir, const struct kept *k, uint64_t holds, uint64_t bytes)
{
	struct err why = {0};

	if (!k->gone)
		return let_steps_go(state_dir, k, holds, bytes);
	if (kept_remove(state_dir, k, &why) < 0) {
		log_warn("kept", "%s", why.text);
		return 0;
	}
	log_info("kept", "history of '%s', which is gone, went: journal.total-size", k->folder);
	return holds;
}

static bool is_one_of(const struct kept *k, char *const *folders)
{
	for (size_t i = 0; folders[i]; i++)
		if (str_eq(k->folder, folders[i]))
			return true;
	return false;
}

void kept_fit(const char *state_dir, uint64_t most, char *const *folders)
{
	AUTO_FREE uint64_t *holds = NULL;
	struct kept *list = NULL;
	struct err why = {0};
	uint64_t sum = 0;
	size_t n = 0;

	if (kept_list(&list, &n, state_dir, false, &why) < 0) {
		log_warn("kept", "journal.total-size: %s", why.text);
		return;
	}
	holds = xcalloc(n + 1, sizeof(*holds));
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *store = path_join(state_dir, list[i].label);

		holds[i] = list[i].beside ? 0 : journal_store_bytes(store);
		sum += holds[i];
	}
	for (size_t i = 0; i < n && sum > most; i++)
		if (holds[i] && list[i].folder && !is_one_of(&list[i], folders))
			sum -= let_go(state_dir, &list[i], holds[i], sum - most);
	kept_free(list, n);
}

/* Returns whether the log only says that the session began, found nothing to undo, and ended. */
static bool is_only_of(int fd, const char *session)
{
	AUTO_FREE char *mark = xasprintf(",\"session\":\"%s\",\"event\":\"", session);
	AUTO_FREE char *text = NULL;
	char *line, *rest = NULL;
	size_t len;

	if (io_read_all(fd, LOG_MAX_BYTES, &text, &len) < 0)
		return false;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *at = strstr(line, ",\"session\":");

		if (!at || !str_starts(at, mark))
			return false;
		at += strlen(mark);
		if (!str_starts(at, "session-") && !str_starts(at, "undo\""))
			return false;
	}
	return true;
}

static void drop_log(const char *state_dir, const char *folder, const char *session)
{
	AUTO_FREE char *path = folders_audit_path(state_dir, folder);
	AUTO_FREE char *head = xasprintf("%s.head", path), *older = xasprintf("%s.1", path);
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && io_lock(fd) == 0 && access(older, F_OK) < 0 && is_only_of(fd, session)) {
		unlink(path);
		unlink(head);
	}
}

void kept_drop_empty(const char *state_dir, char *const *folders, const char *session)
{
	static const char *const dirs[] = {"cache", "audit"};
	bool made_nothing = true;

	for (size_t i = 0; folders[i]; i++) {
		AUTO_FREE char *label = path_label(folders[i]);
		AUTO_FREE char *cache = xasprintf("%s/cache/%s", state_dir, label);
		const struct journal_spec spec = {.folder = folders[i], .state_dir = state_dir};

		/* A store that cannot be removed may be in use by a session, which needs the
		 * cache. */
		if (journal_unmake(&spec))
			rmdir(cache);
		else
			made_nothing = false;
	}
	if (made_nothing)
		drop_log(state_dir, folders[0], session);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		AUTO_FREE char *dir = path_join(state_dir, dirs[i]);

		rmdir(dir); /* fails if it has another entry */
	}
}
