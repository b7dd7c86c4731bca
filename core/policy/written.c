/* written - the places that rules and answers let the agent write, for programs outside. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/written.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/os/file.h"
#include "core/policy/rules/rules.h"

#define VERSIONS_MAX 64 /* of the rules; of later ones only the allow lines count */
#define RECORD_MAX   (64u << 20)

/* A record of the log, before its patterns: verdict and level, a byte each, then text and a NUL. */
struct head {
	uint32_t len;	/* of the patterns */
	uint32_t whole; /* all rules of a moment; 0: patterns to add */
};

static struct {
	int log; /* 0: not shared */
	off_t at;
	bool broken; /* it could not be read */
	struct rules *versions[VERSIONS_MAX];
	size_t n;
	struct rules *more; /* patterns that nothing restricts */
} known;

/* ---- records --------------------------------------------------------------------------------- */

static void begin(struct buf *record, bool whole)
{
	const struct head head = {.whole = whole};

	buf_add(record, &head, sizeof(head));
}

static void put(struct buf *record, enum rule_verdict verdict, enum rule_level level,
		const char *pattern)
{
	/* A pattern of the whole system would take each program for the agent's. One that names
	 * anything does not: a PATH may lead to a directory of that name. */
	if (verdict == RULE_ALLOW && pattern[strspn(pattern, "/*?")] == '\0')
		return;
	buf_ch(record, (char)verdict);
	buf_ch(record, (char)level);
	buf_add(record, pattern, strlen(pattern) + 1);
}

static void put_rule(struct buf *record, struct rules *r, uint32_t number)
{
	const struct rule *rule = rules_at(r, number);
	AUTO_BUF struct buf text = BUF_INIT;

	if (!rule || !(rule->kinds & 1u << RULE_WRITE) ||
	    (rule->verdict != RULE_ALLOW && rule->of->until))
		return;
	for (uint32_t at = 0; (at = rules_next(r, number, at));) {
		rules_text(r, at, &text);
		put(record, rule->verdict, rule->of->level, text.data);
	}
}

static struct rules *more(void)
{
	if (!known.more)
		known.more = rules_new();
	return known.more;
}

static void take(const char *at, const char *end, bool whole)
{
	bool apart = whole && known.n < VERSIONS_MAX;
	struct rules *to = apart ? known.versions[known.n++] = rules_new() : more();

	for (; end - at > 2; at += 2 + strlen(at + 2) + 1) {
		const struct rule_frame frame = {.level = (enum rule_level)at[1]};
		const struct rule rule = {.of = &frame,
					  .verdict = (enum rule_verdict)at[0],
					  .kinds = 1u << RULE_WRITE,
					  .pattern = at + 2};
		const char *why;

		if (!apart && rule.verdict != RULE_ALLOW)
			continue;
		/* A pattern that is too deep is none of the policy's either. */
		(void)!rules_place(to, rules_add(to, &rule), at + 2, &why);
	}
}

/* ---- the log --------------------------------------------------------------------------------- */

int written_share(struct err *err)
{
	int fd, r;

	if (known.log)
		return 0;
	fd = os_memory_file("cordon-written");
	r = fd < 0 ? fd : 0;
	if (r == 0 && fcntl(fd, F_SETFL, O_APPEND) < 0)
		r = -errno;
	if (r == 0 && (known.log = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	if (r < 0)
		known.log = 0;
	return r < 0 ? err_set(err, r, "make a file for the places that the agent may write") : 0;
}

int written_fd(void)
{
	return known.log ? known.log : -1;
}

/* Takes the next record of the log. Returns whether there was one. */
static bool take_next(void)
{
	AUTO_FREE char *patterns = NULL;
	struct head head;
	ssize_t n = io_pread_full(known.log, &head, sizeof(head), known.at);

	known.broken = n < 0 || (n == sizeof(head) && head.len > RECORD_MAX);
	if (known.broken || n < (ssize_t)sizeof(head))
		return false;
	patterns = xmalloc(head.len + 1);
	n = io_pread_full(known.log, patterns, head.len, known.at + (off_t)sizeof(head));
	known.broken = n < 0 || (head.len && n == head.len && patterns[head.len - 1]);
	if (known.broken || n < head.len) /* not yet whole: it has no effect yet */
		return false;
	patterns[head.len] = '\0';
	take(patterns, patterns + head.len, head.whole != 0);
	known.at += (off_t)sizeof(head) + head.len;
	return true;
}

static int append(struct buf *record, struct err *err)
{
	struct head head;
	int r;

	memcpy(&head, record->data, sizeof(head));
	head.len = (uint32_t)(record->len - sizeof(head));
	memcpy(record->data, &head, sizeof(head));
	r = record->len > RECORD_MAX ? -EFBIG : 0;
	if (r == 0 && known.broken) /* part of a record may be the log's end */
		r = -EIO;
	if (r == 0 && known.log)
		r = io_write_all(known.log, record->data, record->len);
	else if (r == 0)
		take(record->data + sizeof(head), record->data + record->len, head.whole != 0);
	known.broken = known.broken || r < 0;
	return r < 0 ? err_set(err, r, "note what the agent may write") : 0;
}

/* ---- rules and answers ----------------------------------------------------------------------- */

/* The policy has reported it, or will. */
static void ignore(void *data, const char *file, int line, const char *words)
{
	(void)data, (void)file, (void)line, (void)words;
}

int written_add_rules(const struct config *c, const struct rules_scope *scope, struct err *err)
{
	AUTO_BUF struct buf record = BUF_INIT;
	struct rules *trusted = rules_new(), *untrusted = rules_new();
	struct rules_scope about = *scope;

	about.kinds = 1u << RULE_WRITE;
	(void)!rules_load(trusted, untrusted, c, &about, ignore, NULL);
	begin(&record, true);
	for (uint32_t i = 0; i < rules_count(trusted); i++)
		put_rule(&record, trusted, i);
	rules_free(trusted);
	rules_free(untrusted);
	return append(&record, err);
}

int written_add_patterns(const char *const *patterns, struct err *err)
{
	AUTO_BUF struct buf record = BUF_INIT;

	begin(&record, false);
	for (; *patterns; patterns++)
		put(&record, RULE_ALLOW, LEVEL_SESSION, *patterns);
	return append(&record, err);
}

int written_add_answer(const char *object, enum answer_extent extent, struct err *err)
{
	char *patterns[3] = {0};
	int r;

	/* The same answer may be given often. */
	if (*object != '/' || (extent == EXTENT_EXACT && written_by_agent(object)))
		return 0;
	answer_patterns(object, extent, patterns);
	r = written_add_patterns((const char *const *)patterns, err);
	for (size_t i = 0; patterns[i]; i++)
		free(patterns[i]);
	return r;
}

/* ---- the question ---------------------------------------------------------------------------- */

static bool lets_write(struct rules *r, const char *path)
{
	struct rule_match m;

	return rules_decide(r, RULE_WRITE, path, 0, &m) && m.rule->verdict == RULE_ALLOW;
}

bool written_by_agent(const char *path)
{
	while (known.log && !known.broken && take_next())
		continue;
	if (known.broken || (known.more && lets_write(known.more, path)))
		return true;
	for (size_t i = 0; i < known.n; i++)
		if (lets_write(known.versions[i], path))
			return true;
	return false;
}
