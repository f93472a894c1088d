// libprofana's entry points, for programs that link it in:
//   sqlite3_auto_extension((void (*)(void))sqlite3_profana_init);
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct sqlite3;
struct sqlite3_api_routines;

int sqlite3_profana_init(struct sqlite3* db, char** error, const struct sqlite3_api_routines* api);

#ifdef __cplusplus
}
#endif
