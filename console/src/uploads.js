// The script of uploads: of imports and of a product's pictures.

import style from "./uploads.css" with { type: "text" };
import { addStyle } from "./parts/style.js";

export { pictureList } from "./parts/pictures.js";
export { upload } from "./upload.js";

addStyle(style);
