"""What people call the fields of a product.

In English, German, French, Spanish, Italian, Dutch, Portuguese, Polish; the plainest in Russian,
Ukrainian, Chinese, Japanese, Hebrew. Without accents, blanks and capitals; `proposal.py` compares
them so.
"""

import re
import unicodedata
from functools import cache
from typing import Final

NAMES: Final = {
    "name": """
        name, title, product, product label, product name, product title, item, item name, item
        title, article, article name, goods, produktname, produkt, produkttitel, artikel,
        artikelname, titel, bezeichnung, artikelbezeichnung, produktbezeichnung, nom, nom du
        produit, nom produit, nom de l'article, titre, titre du produit, produit, libelle,
        designation, intitule, nombre, nombre del producto, nombre producto, nombre del
        articulo, producto, articulo, titulo, titulo del producto, nome, nome prodotto, nome del
        prodotto, prodotto, titolo, titolo prodotto, nome articolo, articolo, productnaam, naam,
        naam product, artikelnaam, productnaam nl, nome do produto, nome produto, produto,
        titulo do produto, nome do artigo, artigo, nazwa, nazwa produktu, produkt nazwa, tytul,
        tytul produktu, nazwa towaru, towar, model name, description of goods, short
        description, kurzbezeichnung, kurztext, libelle produit, libelle article, designation
        article, designation produit, denominazione, denominazione articolo, descrizione breve,
        descripcion corta, denominacion, descricao curta, nazwa artykulu, nazwa handlowa,
        artikelomschrijving, item description, descr articolo, descrizione articolo, bez, art
        bez, artikelbez, lib, lib article, desig, descr articulo, descripcion articulo, descr
        artigo, artikelomschr, название, наименование, название товара, наименование товара,
        номенклатура, назва, назва товару, найменування, 名称, 商品名, 商品名称, 产品名称, 品名,
        製品名,
        שם, שם מוצר, שם המוצר, שם פריט""",
    "slug": """
        slug, handle, url handle, url key, product handle, permalink, seo url, url slug, url
        alias, identifiant url, kennung url""",
    "description": """
        description, body, body html, long description, product description, details, text,
        beschreibung, produktbeschreibung, artikelbeschreibung, langbeschreibung, langtext,
        description du produit, description produit, description longue, descriptif,
        descripcion, descripcion del producto, descripcion larga, descrizione, descrizione
        prodotto, descrizione del prodotto, omschrijving, productomschrijving, beschrijving,
        productbeschrijving, descricao, descricao do produto, opis, opis produktu, dlugi opis,
        info, descr, beschr, omschr, описание, опис, 描述, 商品描述, 商品説明, 説明, תיאור""",
    "sku": """
        sku, product sku, item sku, sku code, custom label, custom label sku, internal
        reference, product code, item code, item number, item no, article number, article no,
        part number, stock keeping unit, code, product number, artikelnummer, artikel nr, art
        nr, artnr, artikelnr, bestellnummer, produktnummer, reference, ref, reference produit,
        reference du produit, code article, code produit, ugs, referencia, codigo, codigo del
        producto, codigo de producto, codigo articulo, codice, codice prodotto, codice articolo,
        riferimento, artikelcode, productcode, productnummer, codigo do produto, codigo produto,
        referencia do produto, kod, kod produktu, indeks, numer katalogowy, symbol, kod towaru,
        product no, article, art no, art, item id number, style number, style no, stock code,
        catalogue number, catalog number, artikel nummer, artikel no, art nummer, sachnummer,
        numero article, numero d article, code interne, ref article, codigo interno, cod
        articulo, codigo art, cod prodotto, cod articolo, cod, codice interno, codigo sku, cod
        produto, symbol produktu, nr katalogowy, numer artykulu, indeks towaru, kod artykulu,
        bestelnummer, productnr, default code, cod art, cod prod, cod interno, n articolo,
        numero articolo, rif, ref art, code art, n article, no article, num article, ref
        articulo, cod producto, num articulo, clave, bestell nr, best nr, produkt nr,
        materialnummer, cod artigo, cod do produto, ref produto, art code, bestelnr, seller sku,
        артикул, код товара, код товару, код, 货号, 商品编号, 商品编码, 商品コード, 品番,
        商品番号, מקט, קוד פריט""",
    "price": """
        price, selling price, sell price, sales price, standard price, start price, retail
        price, unit price, our price, price each, product price, item price, price incl tax,
        price incl vat, price tax incl, price tax included, gross price, regular price, preis,
        verkaufspreis, vk, vk preis, vk brutto, einzelpreis, bruttopreis, stuckpreis,
        produktpreis, preis brutto, normalpreis, prix, prix de vente, prix ttc, prix unitaire,
        prix de vente ttc, tarif, precio, precio de venta, precio venta, pvp, precio unitario,
        precio final, precio normal, prezzo, prezzo di vendita, prezzo vendita, prezzo unitario,
        prijs, verkoopprijs, eenheidsprijs, stukprijs, prijs incl btw, preco, preco de venda,
        preco venda, preco unitario, cena, cena sprzedazy, cena brutto, cena detaliczna, cena
        jednostkowa, prix vente, prix vente ttc, prix de vente conseille, prix de vente
        unitaire, precio venta publico, precio al publico, prezzo al pubblico, prezzo pubblico,
        preco final, cena sprzedazy brutto, endpreis, verkaufspreis brutto, vkp, verkoopprijs
        incl btw, consumentenprijs, retail, selling price incl tax, prezzo unit, prz, prz
        vendita, pr vendita, p vendita, prezzo ivato, prezzo iva inclusa, px, px vente, px unit,
        px ttc, prix unit, prix vte, pu ttc, pv ttc, precio unit, precio vta, pr venta, p venta,
        precio con iva, precio iva incl, pvp con iva, pvp iva incl, vk pr, verk preis, einzelpr,
        preis stk, preis stuck, preis pro stuck, preis inkl mwst, preco unit, pr venda, p venda,
        preco com iva, preco c iva, valor unitario, verk prijs, verkooppr, vk prijs, stukpr,
        prijs per stuk, prijs st, vk preis brutto, цена, розничная цена, цена продажи, ціна,
        роздрібна ціна, ціна продажу, 价格, 售价, 零售价, 価格, 販売価格, 売価, 単価, מחיר,
        מחיר מכירה""",
    # A price, unless another column is called one.
    "listPrice": """
        list price, rrp, msrp, prix public, prezzo di listino, listino, adviesprijs, catalogue
        price, recommended retail price, suggested retail price, new price, neuer preis, nouveau
        prix, nuevo precio, precio nuevo, nuovo prezzo, nieuwe prijs, novo preco, nowa cena""",
    "salePrice": """
        sale price, special price, discount price, discounted price, promo price, offer price,
        reduced price, promotional price, deal price, angebotspreis, aktionspreis, sonderpreis,
        reduzierter preis, rabattpreis, prix promo, prix solde, prix en solde, prix
        promotionnel, prix remise, precio rebajado, precio de oferta, precio oferta, precio
        promocional, prezzo scontato, prezzo in offerta, prezzo promozionale, prezzo offerta,
        actieprijs, aanbiedingsprijs, kortingsprijs, preco promocional, preco de oferta, preco
        com desconto, cena promocyjna, cena wyprzedazowa, cena po rabacie""",
    # When a sale price counts.
    "saleStarts": """
        sale start, sale starts, sale start date, sale from, sale from date, sale price from,
        sale price start date, sale price from date, date sale price starts, special from,
        special from date, special price from, special price from date, discount from, promotion
        start, promo start, offer start, angebot von, angebot ab, aktion von, aktion ab,
        aktionsbeginn, aktionspreis von, aktionspreis ab, sonderpreis von, sonderpreis ab, debut
        promo, date debut promo, date de debut de promo, inicio oferta, inicio promocion, inizio
        offerta, inizio promozione, start actie, actieprijs van, inicio promocao, promocja od,
        data rozpoczecia promocji""",
    "saleEnds": """
        sale end, sale ends, sale end date, sale to, sale to date, sale until, sale price to,
        sale price end date, sale price to date, date sale price ends, special to, special to
        date, special price to, special price to date, discount to, promotion end, promo end,
        offer end, angebot bis, aktion bis, aktionsende, aktionspreis bis, sonderpreis bis, fin
        promo, date fin promo, date de fin de promo, fin oferta, fin promocion, fine offerta,
        fine promozione, einde actie, actieprijs tot, fim promocao, promocja do, data
        zakonczenia promocji""",
    "salePeriod": """
        sale price effective date, sale period, sale dates, promotion period, aktionszeitraum,
        angebotszeitraum""",
    "compareAtPrice": """
        compare at price, compare price, compareat, original price, old price, was price,
        previous price, before price, strikethrough price, price before discount, alter preis,
        streichpreis, vorheriger preis, originalpreis, statt preis, uvp, ancien prix, prix
        barre, prix avant remise, prix d'origine, precio anterior, precio original, precio
        tachado, precio antes, precio comparativo, prezzo precedente, prezzo originale, prezzo
        barrato, prezzo pieno, oude prijs, van prijs, vanprijs, originele prijs, doorgestreepte
        prijs, preco anterior, preco original, preco antigo, preco de, stara cena, poprzednia
        cena, cena przed rabatem, cena pierwotna, cena katalogowa""",
    "stock": """
        stock, inventory level, inventory, in stock, stock quantity, stock qty, stock level,
        on hand, available, available quantity, quantity available, available stock, inventory
        quantity, inventory qty, quantity on hand, current stock, stock on hand, bestand,
        lagerbestand, lager, auf lager, lagermenge, verfugbar, verfugbare menge, stock
        disponible, quantite en stock, en stock, quantite disponible, existencias, inventario,
        stock actual, cantidad disponible, en existencia, giacenza, scorte, disponibilita,
        magazzino, rimanenza, giacenza magazzino, quantita disponibile, voorraad, op voorraad,
        voorraad aantal, voorraadniveau, estoque, existencia, quantidade em estoque,
        quantidade em stock, unidades em estoque, stan, stan magazynowy, zapas, ilosc w
        magazynie, stock actuel, qty available, qty on hand, qty in stock, stock total, stock
        reel, stock physique, stan aktualny, dostepna ilosc, giacenza attuale, quantita in
        magazzino, unidades disponibles, stock fisico, lagerstand, bestandsmenge, verfugbarer
        bestand, actuele voorraad, voorraad stuks, estoque atual, en inventario, qta
        disponibile, qta disp, qta magazzino, giac, giac mag, disp, disponib, esistenza,
        scorta, qte stock, qte en stock, qte dispo, dispo, stock dispo, cant disponible, cant
        disp, cant stock, exist, uds disponibles, uds disp, lagerbest, akt bestand, verf
        menge, verf bestand, bestand stk, qtd estoque, qtde estoque, qtd em estoque, qtd
        stock, qtd disponivel, disponivel, stock atual, voorr, vrd, aant op voorraad, aantal
        op voorraad, beschikbaar, avail, qty avail, availability, verfugbarkeit,
        disponibilite, disponibilidad, disponibilidade, beschikbaarheid, dostepnosc, остаток,
        остатки, остаток на складе, количество на складе, в наличии, залишок, залишки,
        наявність, 库存, 库存数量, 在庫, 在庫数, 在庫数量, מלאי, כמות במלאי""",
    # A stock, unless another column is called one.
    "quantity": """
        quantity, qty, units, pieces, pcs, count, menge, anzahl, stuck, stuckzahl, quantite,
        qte, cantidad, unidades, quantita, aantal, hoeveelheid, quantidade, qtd, qtde, ilosc,
        sztuk, szt, liczba sztuk, qta, quant, cant, uds, stk, stck, anz, mng, aant, stuks,
        pezzi, n pezzi, количество, кол во, кількість, к сть, 数量, כמות""",
    "lowStockThreshold": """
        low stock threshold, low stock, low stock amount, reorder level, reorder point, minimum
        stock, min stock, safety stock, mindestbestand, meldebestand, stock minimum, seuil de stock,
        seuil d'alerte, stock minimo, scorta minima, minimumvoorraad, minimale voorraad, estoque
        minimo, minimalny stan, stan minimalny, existencias bajas, scorta min, stock min, stock
        mini, mindestbest, estoque min, min voorraad""",
    "imageUrl": """
        image, images, picture, pictures, photo, photos, image url, image urls, image link, img,
        image src, main image, product image, product images, picture url, photo url, thumbnail,
        image1, image 1, image 2, image 3, image 4, image 5, additional images, bild, bilder,
        bild url, bildlink, produktbild, produktbilder, hauptbild, foto, fotos, bildadresse,
        images produit, image produit, url image, url de l'image, lien image, image principale,
        visuel, imagen, imagenes, url imagen, url de imagen, imagen principal, imagen del
        producto, fotografia, immagine, immagini, url immagine, immagine prodotto, foto
        prodotto, immagine principale, afbeelding, afbeeldingen, afbeelding url, plaatje,
        productafbeelding, foto url, imagem, imagens, url da imagem, imagem do produto, imagem
        principal, zdjecie, zdjecia, obraz, obrazek, obrazy, url zdjecia, link do zdjecia,
        zdjecie produktu, zdjecie glowne, fotka, фото, изображение, изображения, картинка,
        зображення, 图片, 商品图片, 画像, 商品画像, 画像url, תמונה, תמונות""",
    "imageAlt": """
        image alt, image alt text, alt text, alt, alternative text, bildtext, alternativtext,
        texte alternatif, texto alternativo, testo alternativo, alternatieve tekst, tekst
        alternatywny""",
    "vendor": """
        vendor, brand, brand name, manufacturer, maker, supplier, marke, hersteller, lieferant,
        markenname, anbieter, marque, fabricant, fournisseur, marca, fabricante, proveedor,
        marchio, produttore, fornitore, brand prodotto, merk, fabrikant, leverancier, merknaam,
        fornecedor, marka, producent, dostawca, fornit, fourn, lief, бренд, производитель,
        поставщик, виробник, постачальник, 品牌, 厂家, ブランド, メーカー, מותג, יצרן, ספק""",
    "type": """
        type, product type, item type, kind, produkttyp, typ, produktart, artikelart, type de
        produit, type produit, tipo, tipo de producto, tipo di prodotto, tipo prodotto,
        producttype, soort, tipo de produto, typ produktu, rodzaj""",
    "category": """
        category, categories, product category, department, collection, collections, group,
        product group, kategorie, kategorien, produktkategorie, warengruppe, rubrik,
        artikelgruppe, produktgruppe, categorie, categories produit, rayon, famille, categorie
        produit, collection produit, categoria, categorias, categoria del producto, familia,
        departamento, coleccion, categorie prodotto, categoria prodotto, reparto, collezione,
        gruppo, categorieen, productgroep, productcategorie, groep, rubriek, categoria do
        produto, categorias do produto, grupo, secao, kategoria, kategorie produktu, kategoria
        produktu, kategorie produktow, grupa, dzial, grupa towarowa, cat, kat, категория,
        категории, группа, категорія, група, 分类, 类别, カテゴリ, カテゴリー, קטגוריה""",
    "tags": """
        tags, tag, keywords, labels, label, schlagworte, schlagworter, stichworte, etiketten,
        etiquettes, mots cles, mots clefs, etiquetas, palabras clave, etichette, parole chiave,
        trefwoorden, etiketten product, palavras chave, tagi, etykiety, slowa kluczowe""",
    "status": """
        status, state, product status, produktstatus, statut, etat, estado, stato, status
        produktu, estado do produto, situacao, stan produktu, статус, 状态, ステータス, סטטוס""",
    "published": """
        published, visible, active, enabled, is active, visibility, online, show, is published,
        veroffentlicht, sichtbar, aktiv, aktiviert, sichtbarkeit, publie, actif, en ligne,
        visibilite, publicado, activo, visibilidad, habilitado, pubblicato, visibile, attivo,
        visibilita, gepubliceerd, zichtbaar, actief, zichtbaarheid, ativo, visivel,
        visibilidade, opublikowany, opublikowane, widoczny, aktywny, widocznosc, available for
        sale, is available, is visible, is enabled, available for order, for sale, sellable,
        sale ok, can be sold, disponible para la venta, disponibles para la venta""",
    # Whose rows repeat a product in another language, or for another site.
    "storeView": """
        store, store view, store view code, store code, store view name, storeview, tienda, negozio,
        boutique""",
    "storefront": "storefront, sales channel, channel, verkaufskanal, canal de vente",
    "currency": """
        currency, currency code, price currency, wahrung, wahrungscode, devise, monnaie,
        moneda, divisa, valuta, moeda, waluta, валюта, 币种, 货币, 通貨, מטבע""",
    "size": """
        size, sizes, product size, size name, clothing size, shoe size, grosse, grossen,
        kleidergrosse, schuhgrosse, taille, pointure, talla, tamano, taglia, misura, maat,
        maten, tamanho, rozmiar, tg, размер, розмір, 尺码, 尺寸, サイズ, מידה""",
    "color": """
        color, colour, colors, colours, product color, color name, farbe, farben, farbton,
        couleur, coloris, teinte, colore, kleur, kleuren, cor, kolor, barwa, цвет, колір, 颜色,
        カラー, 色, צבע""",
    "option": """
        option, option 1, option 2, option 3, option value, option1 value, option2 value, option3
        value, variant option, material, style, flavor, flavour, geschmack, option 1 value, option 2
        value, option 3 value, variant option one value, variant option two value, variant option
        three value, opcion 1 valor, opcion 2 valor, opcion 3 valor, relationship details, variation
        details, ausfuhrung, matiere, sabor, materiale, materiaal, smaak, smak, gusto, gout""",
    "variantTitle": """
        variant, variant title, variant name, variation, variation name, variants, variante,
        variantenname, titre de la variante, nom de la variante, declinaison, nombre de la
        variante, nome variante, titolo variante, variantnaam, variante do produto, nome da
        variante, wariant, nazwa wariantu""",
    "variantSku": """
        variant sku, variation sku, sku variant, variant code, varianten sku, sku variante, sku
        de la variante, sku della variante, wariant sku, sku wariantu""",
    "parentSku": """
        parent sku, parent, parent code, parent product, parent item, sku parent, master sku,
        vaterartikel, vater sku, hauptartikel, hauptartikelnummer, sku principal, reference parent,
        sku padre, referencia padre, codice padre, codice principale, referencia pai, sku nadrzedny,
        kod nadrzedny, hoofdartikel, variant of, mainnumber, item group id""",
    "variantPrice": """
        variant price, variation price, variantenpreis, prix de la variante, precio de la
        variante, prezzo variante, prezzo della variante, variantprijs, preco da variante, cena
        wariantu""",
    "seoTitle": """
        seo title, meta title, page title, seo titel, meta titel, titre seo, meta titre, titulo
        seo, titolo seo, meta titulo, tytul seo, meta tytul""",
    "seoDescription": """
        seo description, meta description, page description, seo beschreibung, meta
        beschreibung, description seo, meta description seo, descripcion seo, meta descripcion,
        descrizione seo, meta descrizione, seo omschrijving, meta omschrijving, descricao seo,
        meta descricao, opis seo, meta opis""",
    "barcode": """
        barcode, ean, gtin, upc, isbn, strichcode, code barre, code barres, codigo de barras,
        codice a barre, codice ean, kod kreskowy, bar code, ean code, ean 13, ean13, gtin 13,
        upc code, code ean, kod ean, codigo ean, codigo barras, codigo de barra, streepjescode,
        barcodenummer, gencod, штрихкод, штрих код, 条码, 条形码, バーコード, jan, janコード,
        ברקוד""",
    "cost": """
        cost, cost price, cost per item, purchase price, supply price, wholesale price, unit
        cost, einkaufspreis, ek, ek preis, prix d'achat, coste, costo, precio de coste, precio
        de compra, prezzo di acquisto, prezzo di costo, inkoopprijs, kostprijs, custo, preco de
        custo, cena zakupu, koszt, buying price, prix d'achat ht, inkoop, cena hurtowa, supplier
        price, preco de compra, prezzo d'acquisto, prezzo acq, p acquisto, px achat, precio
        compra, p compra, einkaufspr, inkooppr, p custo, себестоимость, закупочная цена,
        собівартість, закупівельна ціна, 成本, 进价, 原価, 仕入価格, עלות""",
    # Of a list of sales or an order form, whose quantities are no stock.
    "sale": """
        customer, customer name, buyer, order, order no, order number, order id, order date,
        invoice, invoice no, invoice number, kunde, bestellung, rechnung, rechnungsnummer, client,
        commande, facture, cliente, pedido, factura, ordine, fattura, klant, bestelling, factuur,
        encomenda, fatura, klient, zamowienie, faktura, time, total, total price, total amount, line
        total, subtotal, gesamt, gesamtpreis, gesamtbetrag, summe, prix total, montant total,
        importe, importe total, precio total, totale, prezzo totale, totaal, totaalprijs, preco
        total, suma, razem""",
    # Columns that look like known fields and are not: other amounts and numbers.
    "": """
        id, product id, variant id, item id, attribute, product option value, net price, price excl
        tax, price tax excl, price tax excluded, price excl vat, vat, tax, tax rate, tax class,
        weight, width, height, length, depth, volume, mpn, hs code, country of origin, date, created
        at, updated at, notes, note, position, nettopreis, preis netto, vk netto, mwst, steuer,
        steuersatz, gewicht, breite, hohe, lange, tiefe, datum, prix ht, tva, poids, largeur,
        hauteur, longueur, iva, impuesto, peso, ancho, alto, largo, fecha, prezzo netto, larghezza,
        altezza, lunghezza, data, prijs excl btw, btw, breedte, hoogte, lengte, largura, altura,
        comprimento, cena netto, stawka vat, waga, szerokosc, wysokosc, dlugosc, rating, reviews,
        url, link, product url, sold, sales, minimum quantity, min qty, max qty, order quantity,
        incoming, committed, reserved, minimum order""",
}

# Words that do not change a column's meaning: `Product price (EUR)` is a price.
AROUND: Final = """
    product, products, item, article, produkt, artikel, produit, producto, prodotto, produto,
    produktu, the, of, du, de, del, di, do, da, des, la, le, el, il, in, shop, store, my, our, your,
    unser, notre, nuestro, nostro, nosso"""

# Words in brackets that leave a price, a stock or a SKU what it is.
IN_BRACKETS: Final = """
    incl vat, inc vat, incl tax, incl mwst, inkl mwst, brutto, gross, ttc, iva inclusa, iva incl,
    iva incluido, con iva, com iva, incl btw, pcs, pieces, units, stk, stuck, uds, pezzi, pz, stuks,
    szt, required, mandatory, optional, unique"""

# What a column of yes or no says of its cells: `Published (0/1)`.
_ANSWERS: Final = "0, 1, yes, no, y, n, true, false, ja, nein"

# What a list calls its last row.
TOTALS: Final = frozenset(
    (
        *("total", "totals", "grand total", "sub total", "subtotal", "sum", "summe", "gesamt"),
        *("gesamtsumme", "zwischensumme", "total général", "total general", "totale", "totaal"),
        *("suma", "razem", "soma", "итого", "всего", "разом", "合計", "合计", "总计"),
    )
)

# Names that only Odoo's files have, and what it calls the amounts in them.
ODOO: Final = ("defaultcode", "categid", "uomid", "saleok", "purchaseok", "lstprice")
ODOO_PRICES: Final = {"standardprice": "cost", "listprice": "price", "lstprice": "price"}

# The only name of a product in some sheets, and its number in others: the values decide.
EITHER: Final = """
    article, item, artikel, articulo, articolo, artigo, product, produkt, produit, producto,
    prodotto, produto, towar, model, modell, modele, modelo, modello"""

# ISO 4217. A code in a header says in which currency its amounts are.
CURRENCIES: Final = """
    AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP
    BYN BZD CAD CDF CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP
    GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR
    KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
    MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR
    SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS
    UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWG"""
# Other words for a currency, without capitals and accents.
MONEY: Final = {
    "euro": "EUR",
    "euros": "EUR",
    "dollar": "USD CAD AUD NZD SGD HKD TWD",
    "dollars": "USD CAD AUD NZD SGD HKD TWD",
    "zl": "PLN",
    "zloty": "PLN",
    "kc": "CZK",
    "ft": "HUF",
    "lei": "RON",
    "kr": "SEK NOK DKK ISK",
    "pesos": "MXN ARS CLP COP UYU",
    "reais": "BRL",
}


@cache
def fields_by_name() -> dict[str, str]:
    """Return {known name of a column, as `spell` writes it: the field that it means}."""
    known: dict[str, str] = {}
    for field, names in NAMES.items():
        for name in names.split(","):
            known.setdefault(spell(name), field)
    return known


def find_field(column: str) -> str | None:
    """Return the field that a column's name means in any language; None if it is not known.

    Texts in square brackets may be left out, and so may currencies and words around: `Price (EUR)`,
    `product_price`, `Published (yes/no)`. A quantity is taken for the stock.
    """
    bare = re.sub(r"\[.*?\]", "", column)  # tills write the name of their shop there
    words = re.split(r"[\W_]+", fold(bare))
    core = "".join(word for word in words if word not in _list_words_beside())
    spellings = (spell(column), spell(bare), core)
    field = next(filter(None, map(fields_by_name().get, spellings)), None)
    return "stock" if field == "quantity" else field


@cache
def _list_words_beside() -> frozenset[str]:
    """Return the words that a column's name may have besides those that say what it means."""
    currencies = {*CURRENCIES.lower().split(), *MONEY}
    return spell_all(AROUND) | spell_all(IN_BRACKETS) | spell_all(_ANSWERS) | currencies


@cache
def spell_all(names: str) -> frozenset[str]:
    """Return the names of a list separated by commas, as `spell` writes them."""
    return frozenset(map(spell, names.split(",")))


def spell(name: str) -> str:
    """Write a name without capitals, accents, blanks and punctuation."""
    return re.sub(r"[\W_]+", "", fold(name))


def fold(name: str) -> str:
    """Write a text without capitals and accents: Größe is grosse, ilość is ilosc."""
    text = name.casefold().replace("ł", "l").replace("ø", "o").replace("œ", "oe")
    apart = unicodedata.normalize("NFKD", text)
    return "".join(c for c in apart if not unicodedata.combining(c))
