/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/completion.h"

#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/parse.h"
#include "cmd/verb.h"

static const struct {
	const char *name;
	void (*write)(struct buf *out);
} shells[] = {
	{ "bash", completion_bash },
	{ "zsh", completion_zsh },
	{ "fish", completion_fish },
};

bool completion_offers(const struct verb *verb, const struct option_info *o)
{
	return o->groups & (verb->groups | GROUP_ALL);
}

char *completion_first_word(size_t index, bool *ret_group)
{
	const char *name = verb_table(index)->name;
	size_t len = strcspn(name, " ");

	for (size_t i = 0; i < index; i++) {
		const char *other = verb_table(i)->name;

		if (strcspn(other, " ") == len && memcmp(other, name, len) == 0)
			return NULL;
	}
	*ret_group = name[len] == ' ';
	return mem_strndup(name, len);
}

void completion_quote(struct buf *out, const char *text, const char *quote)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_adds(out, quote);
		else
			buf_add(out, text, 1);
	}
}

int verb_completion(const struct verb *verb, const struct arguments *args,
		    struct error *err)
{
	auto_buf out = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++) {
		if (strcmp(args->operands[0], shells[i].name) != 0)
			continue;
		shells[i].write(&out);
		return output_text(out.data, out.len);
	}
	error_set(err, ERROR_USAGE, 0, "no completions for '%s'",
		  args->operands[0]);
	error_hint(err, "there are some for %s", verb->operands);
	return output_error(err);
}
