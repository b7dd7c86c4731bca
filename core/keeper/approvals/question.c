/* question - one question for the user, and the requests that wait for its answer. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/question.h"

#include "core/base/util.h"

char *question_key(enum rule_kind kind, const char *path)
{
	static const char letters[RULE_KINDS] = {
#define X(id, word, gerund, letter) [RULE_##id] = (letter),
		RULE_KINDS_X(X)
#undef X
	};

	return xasprintf("%c%s", letters[kind], path);
}
