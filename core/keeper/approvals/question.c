/* question - one question for the human, and the requests that wait for its answer. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/question.h"

#include "core/base/util.h"

char *question_key(enum rule_kind kind, const char *path)
{
	static const char letters[RULE_KINDS] = {'r', 'w', 'x', 'u', 'c', 'b', 'g', 's'};

	return xasprintf("%c%s", letters[kind], path);
}
