/* metrics - `cordon audit --metrics`: counts questions and answers, and the time to answer. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/metrics.h"

#include <errno.h>
#include <string.h>

#include "core/audit/audit.h"
#include "core/audit/reader.h"

struct metrics {
	uint64_t sessions, commands, changes, refused, asked, allowed, denied, unanswered, revoked;
	uint64_t reads, by_rule, by_answer, crowded;
	int64_t *waited; /* microseconds, for each answer of a user or a command */
	size_t n_waited, cap;
};

/* ---- counting -------------------------------------------------------------------------------- */

static void add_wait(struct metrics *m, int64_t us)
{
	if (m->n_waited == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 256;
		m->waited = xrealloc(m->waited, m->cap * sizeof(*m->waited));
	}
	m->waited[m->n_waited++] = us;
}

static void count_decision(struct metrics *m, const struct audit_record *r)
{
	const char *latency = audit_record_get(r, "latency_us", NULL);

	if (str_eq(audit_record_text(r, "op"), "revoke")) {
		m->revoked++;
		return;
	}
	if (!latency) {
		m->unanswered++;
		return;
	}
	if (*audit_record_text(r, "errno"))
		m->denied++;
	else
		m->allowed++;
	add_wait(m, strtoll(latency, NULL, 10));
}

static void count_reads(struct metrics *m, const char *words)
{
	uint64_t reads, by_rule, by_answer, asked, crowded;

	if (sscanf(words, AUDIT_READS, &reads, &by_rule, &by_answer, &asked, &crowded) != 5)
		return;
	m->reads += reads;
	m->by_rule += by_rule;
	m->by_answer += by_answer;
	m->crowded += crowded;
}

static void count(void *data, const struct audit_record *r)
{
	struct metrics *m = data;
	const char *event = audit_record_text(r, "event");

	m->sessions += str_eq(event, "session-start");
	m->commands += str_eq(event, "exec");
	m->changes += str_eq(event, "touch");
	m->refused += str_eq(event, "deny");
	m->asked += str_eq(event, "ask") || str_eq(event, "safeguard");
	if (str_eq(event, "decision"))
		count_decision(m, r);
	if (str_eq(event, "session-end"))
		count_reads(m, audit_record_text(r, "detail"));
}

/* ---- printing -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns a percentile by nearest rank. */
static double percentile(const struct metrics *m, size_t percent)
{
	size_t rank = (m->n_waited * percent + 99) / 100;

	return m->n_waited ? (double)m->waited[MAX(rank, (size_t)1) - 1] / 1e6 : 0;
}

struct number {
	const char *name, *words;
	uint64_t value;
};

static void print_json(const struct metrics *m, const struct number *list, size_t n)
{
	putchar('{');
	for (size_t i = 0; i < n; i++)
		printf("\"%s\":%" PRIu64 ",", list[i].name, list[i].value);
	printf("\"wait_median_s\":%.6f,\"wait_p99_s\":%.6f,\"wait_max_s\":%.6f}\n",
	       percentile(m, 50), percentile(m, 99), percentile(m, 100));
}

static void print_words(const struct metrics *m, const struct number *list, size_t n)
{
	uint64_t all = m->allowed + m->denied + m->unanswered;

	for (size_t i = 0; i < n; i++)
		printf("%10" PRIu64 "  %s\n", list[i].value, list[i].words);
	printf("%9.0f%%  of decisions allowed\n",
	       all ? 100.0 * (double)m->allowed / (double)all : 0.0);
	printf("%10.3f  seconds until an answer, median\n", percentile(m, 50));
	printf("%10.3f  seconds until an answer, 99th percentile\n", percentile(m, 99));
}

int metrics_print(const char *path, bool json, struct err *err)
{
	struct metrics m = {0};
	int r = audit_read(path, count, &m, err);

	if (r == 0) {
		const struct number list[] = {
			{"sessions", "sessions", m.sessions},
			{"commands", "commands", m.commands},
			{"changes", "changes, first touches", m.changes},
			{"refused", "refused by rules or the sandbox", m.refused},
			{"asked", "requests that were asked", m.asked},
			{"allowed", "allowed", m.allowed},
			{"denied", "denied", m.denied},
			{"unanswered", "denied because nobody answered in time", m.unanswered},
			{"revoked", "answers taken back", m.revoked},
			{"reads", "reads of gated places that were judged", m.reads},
			{"reads_by_rule", "of these by a rule", m.by_rule},
			{"reads_by_answer", "of these by an answer that was kept", m.by_answer},
			{"reads_crowded", "refused because too many waited", m.crowded},
		};

		if (m.n_waited)
			qsort(m.waited, m.n_waited, sizeof(*m.waited), by_size);
		if (json)
			print_json(&m, list, ARRAY_LEN(list));
		else
			print_words(&m, list, ARRAY_LEN(list));
	}
	free(m.waited);
	return r;
}
