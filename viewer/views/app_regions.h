/* Shared by app_regions.c and what reads its counts. */
#ifndef APP_REGIONS_H
#define APP_REGIONS_H

#include "app.h"

/* How many pages were last written so long ago: class i holds ages above bound i-1 and up to bound i, the bounds being
 * 1 and 3 x 10^n ns from 1 ms on; the last class holds the rest. */
#define APP_AGES 16
struct app_ages {
    uint64_t count[APP_AGES + 1];
};
uint64_t app_age_bound(int index); /* ns */

/* Whether a page counts as resident in sums. */
bool app_page_resident(const struct vmv_page *page);
/* Bytes of a huge page: what one table of the next level maps. */
uint64_t app_huge_bytes(uint32_t page_size);
/* Seen written in the latest frame or after it. */
bool app_page_written(const struct vmv_space *space, const struct vmv_page *page);

/* Called when the moment changed; and at the end. */
void app_regions_invalidate(struct app *app);
void app_regions_free(struct app *app);

#endif
