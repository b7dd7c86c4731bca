/* test_macos_probe - the report about a Mac, and when a session exceeds its limits. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "backends/macos/launch/launch.h"
#include "backends/macos/probe.h"
#include "backends/macos/quota.h"
#include "core/base/buf.h"
#include "tests/support/check.h"

/* ---- the probe ------------------------------------------------------------------------------- */

struct host {
	struct mac_host host;
	int result;
	bool program;
};

static int fake_host(void *data, struct mac_host *ret)
{
	const struct host *h = data;

	*ret = h->host;
	return h->result;
}

static bool fake_can_run(void *data, const char *path)
{
	assert_string_equal(path, MAC_SANDBOX_EXEC);
	return ((const struct host *)data)->program;
}

static const struct probe *line_of(const struct probe_report *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->list[i].name, name))
			return &r->list[i];
	return NULL;
}

TEST(probe_lines)
{
	static const struct {
		struct host host;
		bool known, sandbox, sip, endpoint;
		uint32_t bits;
	} list[] = {
		{{{"14.5", true, true, true, true, 1}, 0, true},
		 true,
		 true,
		 true,
		 true,
		 BACKEND_FILES | BACKEND_NET},
		{{{"15.0.1", false, true, false, false, 1}, 0, true},
		 true,
		 true,
		 false,
		 false,
		 BACKEND_FILES | BACKEND_NET},
		{{{"99.0", true, false, false, true, 1}, 0, false},
		 false,
		 true,
		 false,
		 false,
		 BACKEND_FILES | BACKEND_NET},
		{{{"12.6", true, true, false, false, 1}, 0, false}, false, false, true, false, 0},
		{{{"", false, false, false, false, 0}, -EPERM, true},
		 false,
		 true,
		 false,
		 false,
		 BACKEND_FILES | BACKEND_NET},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const struct mac_os os = {.data = (void *)(uintptr_t)&list[i].host,
					  .look_at_host = fake_host,
					  .can_run = fake_can_run};
		struct probe_report r = {0};
		struct err err = {0};

		assert_int_equal(mac_probe(&os, "/x/cordon-seatbelt", MAC_SANDBOX_EXEC, &r, &err),
				 list[i].bits);
		assert_int_equal(err.code != 0, !list[i].bits);
		assert_int_equal(line_of(&r, "macOS")->ok, list[i].known);
		assert_int_equal(line_of(&r, "sandbox")->ok, list[i].sandbox);
		assert_int_equal(line_of(&r, "system integrity protection")->ok, list[i].sip);
		assert_int_equal(line_of(&r, "endpoint security")->ok, list[i].endpoint);
		assert_int_equal(line_of(&r, "undo")->ok, list[i].endpoint);
		for (size_t k = 0; k < r.n; k++) {
			assert_true(*r.list[k].found && !strchr(r.list[k].found, '\n'));
			assert_true(!r.list[k].ok || !*r.list[k].remedy);
			assert_int_equal(r.list[k].needed,
					 str_eq(r.list[k].name, "sandbox") ||
						 str_eq(r.list[k].name, "helper"));
		}
		probe_report_done(&r);
		assert_int_equal(mac_probe(&os, "/x", MAC_SANDBOX_EXEC, NULL, NULL), list[i].bits);
	}
	{
		const struct mac_os os = {.data = (void *)(uintptr_t)&list[0].host,
					  .look_at_host = fake_host,
					  .can_run = fake_can_run};
		struct err err = {0};

		assert_int_equal(mac_probe(&os, NULL, MAC_SANDBOX_EXEC, NULL, &err), 0);
		assert_non_null(strstr(err.text, "cordon-seatbelt"));
	}
	assert_int_equal(mac_version("14"), 1400);
	assert_int_equal(mac_version("10.15.7"), 1015);
	assert_int_equal(mac_version("x"), 0);
	assert_int_equal(mac_version("14x"), 0);
	assert_int_equal(mac_version("9999999999"), 0);
}

/* ---- quotas ---------------------------------------------------------------------------------- */

TEST(quotas)
{
	static const struct {
		uint64_t resident;
		uint32_t processes;
		uint64_t cpu;
		enum mac_pressure pressure;
		enum quota_action action;
		enum quota_reason reason;
	} looks[] = {
		{500, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_GO, QUOTA_FINE},
		{1001, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_SLOW, QUOTA_MEMORY},
		{950, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_SLOW, QUOTA_MEMORY}, /* below a tenth */
		{900, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_GO, QUOTA_FINE},
		{950, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_GO, QUOTA_FINE},
		{500, 11, 1, MAC_PRESSURE_UNKNOWN, QUOTA_SLOW, QUOTA_PROCESSES},
		{500, 3, 1, MAC_PRESSURE_WARN, QUOTA_SLOW, QUOTA_PRESSURE},
		{500, 3, 1, MAC_PRESSURE_CRITICAL, QUOTA_SLOW, QUOTA_PRESSURE},
		{1500, 3, 1, MAC_PRESSURE_CRITICAL, QUOTA_END, QUOTA_PRESSURE},
		{1, 1, 1, MAC_PRESSURE_NORMAL, QUOTA_END, QUOTA_PRESSURE}, /* it does not change */
	};
	const struct quota_limits l = {.memory_soft = 1000,
				       .memory_hard = 2000,
				       .processes_soft = 10,
				       .processes_hard = 20,
				       .cpu_us_hard = 100};
	struct quota q = {0}, hard = {0};
	struct mac_usage u = {.resident = 2001};
	char why[200];

	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		u = (struct mac_usage){.resident = looks[i].resident,
				       .processes = looks[i].processes,
				       .cpu_us = looks[i].cpu};
		assert_int_equal(quota_judge(&q, &l, &u, looks[i].pressure, why, sizeof(why)),
				 looks[i].action);
		assert_int_equal(q.reason, looks[i].reason);
		assert_int_equal(quota_nice(&q, &l), looks[i].action == QUOTA_SLOW ? 10 : 0);
		assert_int_equal(quota_hold(&q, 1), looks[i].action == QUOTA_SLOW);
		assert_false(quota_hold(&q, 2));
	}
	u = (struct mac_usage){.resident = 2001};
	assert_int_equal(quota_judge(&hard, &l, &u, MAC_PRESSURE_NORMAL, why, sizeof(why)),
			 QUOTA_END);
	assert_non_null(strstr(why, "sandbox.memory"));
	hard = (struct quota){0};
	u = (struct mac_usage){.processes = 21};
	assert_int_equal(quota_judge(&hard, &l, &u, MAC_PRESSURE_NORMAL, why, sizeof(why)),
			 QUOTA_END);
	assert_non_null(strstr(why, "21 processes"));
	hard = (struct quota){0};
	u = (struct mac_usage){.cpu_us = 101};
	assert_int_equal(quota_judge(&hard, &l, &u, MAC_PRESSURE_NORMAL, why, sizeof(why)),
			 QUOTA_END);
}

TEST(quotas_of_a_machine)
{
	struct quota_limits l = quota_limits_of(16u << 20, 0, 100);

	assert_int_equal(l.memory_hard, 12u << 20);
	assert_int_equal(l.memory_soft, 8u << 20);
	assert_int_equal(l.processes_hard, 100);
	assert_int_equal(l.processes_soft, 75);
	l = quota_limits_of(16u << 20, 3u << 20, 0);
	assert_int_equal(l.memory_hard, 3u << 20);
	assert_int_equal(l.processes_hard, 0);
	l = quota_limits_of(0, 0, 0);
	assert_int_equal(l.memory_hard, 0);
}

TESTS(NULL, NULL)
