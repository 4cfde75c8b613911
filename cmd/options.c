/* SPDX-License-Identifier: Apache-2.0 */
/* The table. Its order is the order of --help. */
#include "cmd/options.h"

#include "base/mem.h"
#include "cmd/box_options.h"

#define FILES    "Files"
#define COMMAND  "Command"
#define NETWORK  "Network"
#define LIMITS   "Limits"
#define SECURITY "Security"
#define OUTPUT   "Output"

static const struct option_info options[] = {
	{ "rootfs", 'r', "IMAGE", FILES, GROUP_POLICY, .field = "rootfs.image",
	  .value = VALUE_IMAGE,
	  .doc = "root filesystem: an archive, a directory, a name of the "
		 "store, or 'host' for this host's programs (default)" },
	{ "project", 'C', "DIR[:overlay|rw|ro]", FILES, GROUP_POLICY,
	  .apply = box_option_project, .value = VALUE_DIR,
	  .doc = "mount DIR at its own path and work there; overlay (default) "
		 "keeps DIR untouched" },
	{ "volume", 'v', "SRC:DST[:rw|ro|overlay]", FILES, GROUP_POLICY,
	  .apply = box_option_volume, .value = VALUE_DIR,
	  .doc = "mount the file or directory SRC at DST (default rw)" },
	{ "tmpfs", 0, "DST[:SIZE]", FILES, GROUP_POLICY,
	  .apply = box_option_tmpfs, .doc = "mount an empty tmpfs at DST" },
	{ "read-only", 0, NULL, FILES, GROUP_POLICY,
	  .apply = box_option_read_only,
	  .doc = "no changes to the root filesystem: --writes none" },
	{ "writes", 0, "WHERE", FILES, GROUP_POLICY, .field = "rootfs.writes",
	  .choices = "memory disk none",
	  .doc = "where changes to the root filesystem go: memory, disk or "
		 "none" },

	{ "workdir", 'w', "DIR", COMMAND, GROUP_POLICY, .field = "workdir",
	  .doc = "working directory in the box" },
	{ "env", 'e', "NAME[=VALUE]", COMMAND, GROUP_POLICY,
	  .apply = box_option_env,
	  .doc = "set a variable; NAME alone passes the caller's value" },
	{ "env-file", 0, "FILE", COMMAND, GROUP_POLICY,
	  .apply = box_option_env_file, .value = VALUE_FILE,
	  .doc = "set variables from the lines of FILE" },
	{ "user", 'u', "USER[:GROUP]", COMMAND, GROUP_POLICY, .field = "user",
	  .doc = "user in the box, by name or number (default root)" },
	{ "hostname", 'h', "NAME", COMMAND, GROUP_POLICY, .field = "hostname",
	  .doc = "host name in the box" },
	{ "tty", 't', NULL, COMMAND, GROUP_RUN, .id = OPTION_TTY,
	  .doc = "always give the command a terminal of its own" },
	{ "no-tty", 'T', NULL, COMMAND, GROUP_RUN, .id = OPTION_NO_TTY,
	  .doc = "never give the command a terminal" },
	{ "interactive", 'i', NULL, COMMAND, GROUP_RUN,
	  .id = OPTION_INTERACTIVE,
	  .doc = "hand standard input through (always done; for the habit of "
		 "-it)" },

	{ "network", 0, "MODE", NETWORK, GROUP_POLICY, .field = "network.mode",
	  .choices = "none allowlist host",
	  .doc = "none (default), allowlist, or host" },
	{ "allow", 0, "RULE", NETWORK, GROUP_POLICY, .apply = box_option_allow,
	  .doc = "allow connections to NAME[:PORT] or ADDRESS[/BITS][:PORT]; "
		 "implies --network allowlist" },

	{ "memory", 'm', "SIZE", LIMITS, GROUP_POLICY, .field = "limits.memory",
	  .doc = "memory of all processes" },
	{ "cpus", 0, "NUMBER", LIMITS, GROUP_POLICY, .field = "limits.cpus",
	  .doc = "processors' worth of time, as 1.5" },
	{ "pids-limit", 0, "NUMBER", LIMITS, GROUP_POLICY,
	  .field = "limits.pids", .doc = "processes and threads at a time" },
	{ "disk", 0, "SIZE", LIMITS, GROUP_POLICY, .field = "limits.disk",
	  .doc = "bytes that may be written to the root filesystem, /tmp and "
		 "the overlays" },
	{ "inodes", 0, "NUMBER", LIMITS, GROUP_POLICY, .field = "limits.inodes",
	  .doc = "files that may be made there" },
	{ "timeout", 0, "TIME", LIMITS, GROUP_POLICY, .field = "limits.time",
	  .doc = "time until the command is ended (status 124)" },
	{ "lifetime", 0, "TIME", LIMITS, GROUP_POLICY,
	  .field = "limits.lifetime", .doc = "time until the box is ended" },
	{ "cpu-time", 0, "TIME", LIMITS, GROUP_POLICY,
	  .field = "limits.cpu_time",
	  .doc = "processor time of each process (status 124)" },
	{ "output-limit", 0, "SIZE", LIMITS, GROUP_POLICY,
	  .field = "limits.output",
	  .doc = "bytes of standard output and error together" },
	{ "ulimit", 0, "NAME=SOFT[:HARD]", LIMITS, GROUP_POLICY,
	  .field = "limits.ulimit",
	  .doc = "a resource limit of each process, as nofile=1024" },

	{ "policy", 0, "FILE", SECURITY, GROUP_POLICY, .id = OPTION_POLICY_FILE,
	  .value = VALUE_FILE,
	  .doc = "policy file; repeated ones merge; see llmbox-policy(5)" },
	{ "identity", 0, "HOW", SECURITY, GROUP_POLICY, .field = "identity",
	  .choices = "auto one range shifted",
	  .doc = "user ids of the box: auto (default), one, range or shifted" },
	{ "syscalls", 0, "PROFILE", SECURITY, GROUP_POLICY,
	  .field = "syscalls.profile", .choices = "default strict debug",
	  .doc = "system calls: default, strict or debug" },
	{ "require", 0, "GUARANTEE", SECURITY, GROUP_POLICY, .field = "require",
	  .doc = "refuse to run unless this guarantee or limit holds" },
	{ "best-effort", 0, "LIMIT", SECURITY, GROUP_POLICY,
	  .field = "best_effort",
	  .doc = "run although this limit can't be held" },

	{ "allow-root-volume", 0, NULL, SECURITY, GROUP_RUN,
	  .id = OPTION_ALLOW_ROOT_VOLUME,
	  .doc = "as host root: accept writable volumes that root owns" },

	{ "report", 0, "FILE|fd:N", OUTPUT, GROUP_RUN, .id = OPTION_REPORT,
	  .value = VALUE_FILE,
	  .doc = "write how it ended as JSON; see llmbox-report(5)" },
	{ "json", 0, NULL, OUTPUT, GROUP_CAPTURE, .id = OPTION_JSON,
	  .doc = "print one JSON object: the report with the command's output" },
	{ "json", 0, NULL, OUTPUT, GROUP_LIST, .id = OPTION_JSON,
	  .doc = "print a JSON array" },
	{ "json", 0, NULL, OUTPUT, GROUP_DOCTOR, .id = OPTION_JSON,
	  .doc = "print one JSON object" },
	{ "quiet", 'q', NULL, OUTPUT, GROUP_RUN | GROUP_IMPORT,
	  .id = OPTION_QUIET,
	  .doc = "no notes on standard error, only errors" },
	{ "quiet", 'q', NULL, OUTPUT, GROUP_LIST, .id = OPTION_QUIET,
	  .doc = "print names only" },
	{ "quiet", 'q', NULL, OUTPUT, GROUP_DOCTOR, .id = OPTION_QUIET,
	  .doc = "print only what is not 'yes', and the verdict" },
	{ "verbose", 0, NULL, OUTPUT, GROUP_RUN, .id = OPTION_VERBOSE,
	  .doc = "say on standard error what was chosen, and why" },
	{ "dry-run", 0, NULL, OUTPUT, GROUP_RUN, .id = OPTION_DRY_RUN,
	  .doc = "print the plan as JSON and run nothing" },
	{ "help", 0, NULL, OUTPUT, GROUP_ALL, .id = OPTION_HELP,
	  .doc = "print this (also -h as the last argument)" },
};

const struct option_info *option_table(size_t index)
{
	return index < ARRAY_SIZE(options) ? &options[index] : NULL;
}
