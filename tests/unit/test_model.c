/* test_model - what a view reads: rows of programs that are looked for along $PATH. */
/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core/session/model.h"

static void a_search_along_the_path_is_one_row(void **state)
{
	struct model m;

	(void)state;
	model_init(&m);
	model_add_exec(&m, 1, 7, "rg x", "/usr/local/bin/rg");
	model_add_exec(&m, 1, 7, "rg x", "/usr/bin/rg");
	model_add_exec(&m, 1, 7, "rg x", "/bin/rg");
	assert_int_equal(m.row_count, 1);
	assert_string_equal(model_row(&m, 0)->more, "/bin/rg"); /* the one that is there */
	model_add_exec(&m, 1, 7, "rg x", "/bin/evil"); /* another program under that name */
	model_add_exec(&m, 1, 8, "rg x", "/bin/evil"); /* another process */
	model_add_exec(&m, 1, 8, "rg y", "/bin/evil"); /* other arguments */
	model_add_row(&m, ROW_TOUCH, 1, 8, 0, "write", "f", NULL);
	model_add_exec(&m, 1, 8, "rg y", "/bin/evil"); /* later */
	assert_int_equal(m.row_count, 6);
	model_done(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_along_the_path_is_one_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
