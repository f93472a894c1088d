# Writes generated/ext/version.h, with the commit that is built, at every build; untouched where nothing changed.
execute_process(COMMAND git rev-parse --short HEAD WORKING_DIRECTORY ${ROOT}
                OUTPUT_VARIABLE PROFANA_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
configure_file(${ROOT}/ext/version.h.in ${OUTPUT})
