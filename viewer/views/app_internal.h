/* What the files of struct app share. */
#ifndef APP_INTERNAL_H
#define APP_INTERNAL_H

#include "app.h"

/* world or pid changed: find the space again, drop what was derived. */
void app_moment_changed(struct app *app);
/* Free what the file keeps. */
void app_census_free(struct app *app);

#endif
