// The script of uploads: of imports, of a product's pictures, of an order's files.

import style from "./uploads.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { drawFiles } from "./parts/files.js";
export { pictureList } from "./parts/pictures.js";
export { upload } from "./upload.js";

addStyle(style);
