/* test_traffic - network.bytes: each connection counts, by the name and by the address of its host.
 */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/config/config.h"
#include "core/session/session_priv.h"
#include "tests/support/check.h"

static const struct session_listener on;

static void begin(struct session *s, struct config **ret, const char *limit)
{
	const char *const settings[] = {limit, NULL};
	struct config_spec spec = {
		.home = "/nowhere", .state_dir = "/nowhere", .settings = settings};
	struct session_spec of = {0};
	struct err err = {0};

	assert_int_equal(config_load(ret, &spec, &err), 0);
	*s = (struct session){.on = &on};
	model_init(&s->model);
	of.config = *ret;
	assert_int_equal(session_read_limits(s, &of, &err), 0);
}

static void end(struct session *s, struct config *c)
{
	session_free_traffic(s);
	model_done(&s->model);
	config_free(c);
}

static void flow(struct session *s, uint64_t id, enum flow_state state, uint64_t sent)
{
	session_on_flow(s, &(struct client_event){.id = id,
						  .flow = state,
						  .path = "good.example:7",
						  .path2 = "203.0.113.7",
						  .program = "p",
						  .reason = "",
						  .done = sent});
}

/* How many rows say that there were more bytes. */
static size_t told(const struct session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->model.row_count; i++)
		n += strstr(model_row(&s->model, i)->text, "more than network.bytes") != NULL;
	return n;
}

TEST(the_oldest_of_a_crowd_is_counted)
{
	struct config *c = NULL;
	struct session s;

	begin(&s, &c, "network.bytes=good.example 2k");
	for (uint64_t id = 1; id <= MODEL_CONNECTIONS + 1; id++)
		flow(&s, id, FLOW_OPEN, 0);
	assert_null(model_connection(&s.model, 1));
	flow(&s, 1, FLOW_MOVING, 2048);
	assert_int_equal(told(&s), 0);
	flow(&s, 1, FLOW_OVER, 2049);
	assert_int_equal(told(&s), 1);
	flow(&s, 1, FLOW_OVER, 9999); /* its end comes once */
	end(&s, c);
}

TEST(an_address_counts_what_goes_by_name)
{
	struct config *c = NULL;
	struct session s;

	begin(&s, &c, "network.bytes=203.0.113.0/24:7 2k");
	flow(&s, 1, FLOW_OPEN, 0);
	flow(&s, 1, FLOW_MOVING, 2049);
	assert_int_equal(told(&s), 1);
	end(&s, c);
}

TEST(connections_from_the_host_are_not_counted)
{
	struct config *c = NULL;
	struct session s;

	begin(&s, &c, "network.bytes=* 2k");
	flow(&s, 1, FLOW_CAME, 0);
	flow(&s, 1, FLOW_OVER, 9999);
	assert_int_equal(told(&s), 0);
	end(&s, c);
}

TESTS(NULL, NULL)
